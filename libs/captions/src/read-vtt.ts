import type { CaptionLine } from './caption-line.ts'
import { clockMs, fractionMs } from './clock.ts'
import { headOf, textLines } from './text-lines.ts'
import { type LineKind, readTimedBlocks } from './timed-blocks.ts'

const TIMES =
  /^\s{0,40}(?:(\d{1,5}):)?(\d{1,4}):(\d{1,2})[.,](\d{1,3})\s{0,40}-->\s{0,40}(?:(\d{1,5}):)?(\d{1,4}):(\d{1,2})[.,](\d{1,3})(?!\d)/
/** Bold, italic and underlined are kept, without their classes. */
const KEPT_TAGS = /<(\/?)([biu])(?:[.\s][^<>]{0,300})?>/g
const OTHER_TAGS = /<\/?(?:c|v|lang|ruby|rt)(?:[.\s][^<>]{0,300})?>|<\d{1,5}:[\d:.]{1,20}>/g
const ENTITIES = /&(?:(amp|lt|gt|quot|apos|nbsp|lrm|rlm)|#(\d{1,7})|#x([\da-f]{1,6}));/gi
const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  lrm: '\u200e',
  rlm: '\u200f',
}

/** WebVTT. Only what follows times counts: header, notes, styles, regions and the names of cues are passed over. */
export function readVtt(text: string): CaptionLine[] {
  return readTimedBlocks(textLines(text), kindOf, (block) => withoutMarkup(block.join('\n')))
}

function kindOf(line: string): LineKind {
  if (line === '') return 'end'
  const [, h1, m1, s1, f1, h2, m2, s2, f2] = TIMES.exec(headOf(line)) ?? []
  return f1 === undefined ? 'text' : { beginMs: clockMs(h1, m1, s1, fractionMs(f1)), endMs: clockMs(h2, m2, s2, fractionMs(f2)) }
}

/** Tags that are none of the format's, `<script>` say, stay as the text that they are. */
function withoutMarkup(text: string): string {
  return text.replaceAll(KEPT_TAGS, '<$1$2>').replaceAll(OTHER_TAGS, '').replaceAll(ENTITIES, character)
}

function character(written: string, name: string | undefined, decimal: string | undefined, hex: string | undefined): string {
  if (name !== undefined) return NAMED[name.toLowerCase()] ?? written
  const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal)
  const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
  return isCharacter ? String.fromCodePoint(code) : '\ufffd'
}
