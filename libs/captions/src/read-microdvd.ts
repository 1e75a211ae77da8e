import type { CaptionLine } from './caption-line.ts'
import { collectLines } from './collect-lines.ts'
import { type Cursor, lineEnd, passBlanks, passMark, readNumber } from './cursor.ts'
import { microDvdText } from './microdvd-text.ts'

/** Where the file does not say. */
const usualRate = 24_000 / 1_001
/** Milliseconds that a text shows where nothing ends it. */
const openMs = 5_000

/** MicroDVD: `{begin}{end}text`, in frames; one of the first three lines may hold the frames a second in place of a text. */
export function readMicroDvd(text: string): CaptionLine[] {
  const found = collectLines()
  const cursor: Cursor = { text, at: 0 }
  let rate = usualRate
  let count = 0
  let open: { beginMs: number; words: string } | undefined
  for (let start = 0, end = 0; start < text.length; start = end + 1) {
    cursor.at = start
    const frames = readFrames(cursor)
    end = lineEnd(text, cursor.at)
    if (!frames) continue
    const said = count++ < 3 ? rateOf(text.slice(cursor.at, Math.min(end, cursor.at + 200))) : 0
    if (said > 3 && said < 100) {
      rate = said
      continue
    }
    const beginMs = Math.round((frames.begin / rate) * 1_000)
    if (open) found.add({ beginMs: open.beginMs, endMs: Math.min(beginMs, open.beginMs + openMs) }, open.words)
    open = undefined
    if (end === cursor.at) continue
    const words = microDvdText(text.slice(cursor.at, end))
    if (frames.end === -1) open = { beginMs, words }
    else found.add({ beginMs, endMs: Math.round((frames.end / rate) * 1_000) }, words)
  }
  if (open) found.add({ beginMs: open.beginMs, endMs: open.beginMs + openMs }, open.words)
  return found.lines
}

/** `{begin}{end}`; -1 is no end. */
export function readFrames(cursor: Cursor): { begin: number; end: number } | undefined {
  passBlanks(cursor)
  if (!passMark(cursor, '{')) return undefined
  const begin = readNumber(cursor, 9)
  if (begin === -1 || !passMark(cursor, '}')) return undefined
  passBlanks(cursor)
  if (!passMark(cursor, '{')) return undefined
  const end = readNumber(cursor, 9)
  return passMark(cursor, '}') ? { begin, end } : undefined
}

function rateOf(words: string): number {
  return /^\s{0,40}\d{1,3}(?:\.\d{1,10})?\s{0,40}$/.test(words) ? Number(words) : 0
}
