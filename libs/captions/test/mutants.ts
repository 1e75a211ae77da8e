import type { CaptionFormat } from '../src/index.ts'

/** Returns a generator of numbers in [0, 1) that is reproducible for a seed. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export const SEEDS: Record<CaptionFormat, readonly string[]> = {
  srt: [
    '1\n00:00:01,500 --> 00:00:02,750\nGood <i>evening</i>\nall --> of you\n\n2\n00:00:03,000 --> 00:00:04,000\n<script>alert(1)</script> {\\an8}\n',
  ],
  vtt: [
    'WEBVTT\n\nNOTE x\n\nid\n00:01.500 --> 00:02.750 align:start\n<v Ada>Tom &amp; <b>Jerry</b> --&gt; &#65;\n\n01:00:00.000 --> 01:00:01.000\n<c.x>a</c><00:00:02.000>\n',
  ],
  sbv: ['0:00:00.599,0:00:04.160\n>> ALICE: Hi\nthere\n\n0:00:04.160,0:00:06.500\na[br]b --> c\n'],
  sub: [
    '{1}{1}25\n{25}{50}{y:i}Hello|World\n{60}{}open --> <script>\n{75}{100}{Y:b}a|b\n',
    '[INFORMATION]\n[TITLE]x\n[END INFORMATION]\n[SUBTITLE]\n00:00:04.12,00:00:08.05\nText[br]two\n\n',
    '[BEGIN]\n[00:00:02]\nHello|World\n[00:00:05]\n\n[00:00:08]\nLast\n[end]\n',
  ],
}

const PIECES = [
  ...[
    '-->',
    '<',
    '>',
    '&',
    '<script>',
    '</script>',
    '<i>',
    '</b>',
    '<u',
    '{\\',
    '}',
    '{y:i}',
    '[br]',
    ']]>',
    '<!--',
    '&#0;',
    '&#x1F600;',
    '&lt;i&gt;',
  ],
  ...[
    '\n',
    '\n\n',
    '\r',
    '\r\n',
    '\0',
    '\ufeff',
    '\ufffe',
    '\u0001',
    '\u2028',
    '\ud800',
    '\u{1f600}',
    '\u202e',
    ' ',
    '\t',
    '0',
    '99999999999',
    ',',
    '.',
    ':',
  ],
  ...['00:00:01,000 --> 00:00:02,000\n', '00:01.000 --> 00:02.000\n', '{1}{2}', '[00:00:03]', 'WEBVTT', 'NOTE', 'STYLE\n'],
]

/**
 * Returns a file with one to twelve changes: pieces inserted, removed, duplicated or moved, and sometimes one piece
 * repeated very often.
 */
export function mutant(random: () => number): { format: CaptionFormat; text: string } {
  const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T
  const format = pick(['srt', 'sbv', 'sub', 'vtt'] as const)
  let text = pick(SEEDS[format])
  for (let remaining = 1 + Math.floor(random() * 12); remaining > 0; remaining--) {
    const [a, b] = [Math.floor(random() * text.length), Math.floor(random() * text.length)].sort((x, y) => x - y) as [number, number]
    const piece = random() < 0.02 ? pick(PIECES).repeat(Math.floor(random() * 20_000)) : pick(PIECES)
    text = pick([
      text.slice(0, a) + piece + text.slice(a),
      text.slice(0, a) + text.slice(b),
      text.slice(0, b) + text.slice(a),
      text.slice(b) + text.slice(0, b),
    ])
  }
  return { format, text: text.slice(0, 2_000_000) }
}
