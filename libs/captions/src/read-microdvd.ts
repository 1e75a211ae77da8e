import type { CaptionLine } from './caption-line.ts'
import { headOf, textLines } from './text-lines.ts'
import { collectLines } from './timed-blocks.ts'

const FRAMES = /^\s{0,40}\{(\d{1,9})\}\s{0,40}\{(\d{0,9})\}/
/** Colour, style, size, position and so on, of a line or of all. */
const CONTROLS = /\{[yYfFsScCpPoOhH]:[^{}\n|]{0,200}\}/g
/** Where the file does not say. */
const usualRate = 24_000 / 1_001
/** Milliseconds that a text shows where nothing ends it. */
const openMs = 5_000

/** MicroDVD: `{begin}{end}text`, in frames; one of the first three lines may hold the frames a second in place of a text. */
export function readMicroDvd(text: string): CaptionLine[] {
  const found = collectLines()
  let rate = usualRate
  let count = 0
  let open: { beginMs: number; words: string } | undefined
  for (const line of textLines(text)) {
    const [frames, begin, end] = FRAMES.exec(headOf(line)) ?? []
    if (frames === undefined || begin === undefined || end === undefined) continue
    const words = line.slice(frames.length)
    if (count++ < 3) {
      const said = /^\s{0,40}\d{1,3}(?:\.\d{1,10})?\s{0,40}$/.test(headOf(words)) ? Number(words) : 0
      if (said > 3 && said < 100) {
        rate = said
        continue
      }
    }
    const beginMs = Math.round((Number(begin) / rate) * 1_000)
    if (open) found.add({ beginMs: open.beginMs, endMs: Math.min(beginMs, open.beginMs + openMs) }, open.words)
    open = undefined
    if (end === '') open = { beginMs, words: textOf(words) }
    else found.add({ beginMs, endMs: Math.round((Number(end) / rate) * 1_000) }, textOf(words))
  }
  if (open) found.add({ beginMs: open.beginMs, endMs: open.beginMs + openMs }, open.words)
  return found.lines
}

export function isMicroDvdLine(line: string): boolean {
  return FRAMES.test(headOf(line))
}

/** `{y:i}` makes one line italic, `{Y:i}` all of them; other controls are left out. */
function textOf(words: string): string {
  const whole = stylesOf(words, 'Y')
  const lines = words.split('|').map((line) => wrapped(line.replaceAll(CONTROLS, ''), stylesOf(line, 'y')))
  return wrapped(lines.join('\n'), whole)
}

function stylesOf(text: string, letter: 'y' | 'Y'): string[] {
  const at = text.indexOf(`{${letter}:`)
  const written = at === -1 ? '' : (/^[biu,]{1,10}\}/.exec(text.slice(at + 3, at + 20))?.[0] ?? '')
  return ['b', 'i', 'u'].filter((style) => written.includes(style))
}

function wrapped(text: string, styles: readonly string[]): string {
  return styles.reduce((inner, style) => `<${style}>${inner}</${style}>`, text)
}
