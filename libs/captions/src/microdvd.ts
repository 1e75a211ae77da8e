import { type CaptionLine, captionTextTooLong, MAX_TEXT_CHARACTERS } from './caption-line.ts'
import { type Cursor, lineEnd, readNumber, skipBlanks, skipCharacter } from './scanner.ts'
import { createCollector } from './timed-blocks.ts'

/** Frames per second of a file that does not declare them. */
const DEFAULT_FRAME_RATE = 24_000 / 1_001
/** Duration of a caption without an end. */
const DEFAULT_DURATION_MS = 5_000
const MAX_SOURCE_UNITS = 6 * MAX_TEXT_CHARACTERS
const MAX_CONTROL_UNITS = 200
const [COLON, OPENING_BRACE, LINE_SEPARATOR, CLOSING_BRACE] = [58, 123, 124, 125]

/** Reads MicroDVD: `{begin}{end}text`, in frames. One of the first three lines may contain the frame rate in place of a text. */
export function readMicroDvd(text: string): CaptionLine[] {
  const collector = createCollector()
  const cursor: Cursor = { text, at: 0 }
  let rate = DEFAULT_FRAME_RATE
  let count = 0
  let withoutEnd: { beginMs: number; text: string } | undefined
  for (let start = 0, end = 0; start < text.length; start = end + 1) {
    cursor.at = start
    const frames = readFrames(cursor)
    end = lineEnd(text, cursor.at)
    if (!frames) continue
    const declaredRate = count++ < 3 ? parseRate(text.slice(cursor.at, Math.min(end, cursor.at + 200))) : 0
    if (declaredRate > 3 && declaredRate < 100) {
      rate = declaredRate
      continue
    }
    const beginMs = Math.round((frames.begin / rate) * 1_000)
    if (withoutEnd) {
      const endMs = Math.min(beginMs, withoutEnd.beginMs + DEFAULT_DURATION_MS)
      collector.add({ beginMs: withoutEnd.beginMs, endMs }, withoutEnd.text)
    }
    withoutEnd = undefined
    if (end === cursor.at) continue
    const caption = microDvdText(text.slice(cursor.at, end))
    if (frames.end === -1) withoutEnd = { beginMs, text: caption }
    else collector.add({ beginMs, endMs: Math.round((frames.end / rate) * 1_000) }, caption)
  }
  if (withoutEnd) collector.add({ beginMs: withoutEnd.beginMs, endMs: withoutEnd.beginMs + DEFAULT_DURATION_MS }, withoutEnd.text)
  return collector.lines
}

/** Reads `{begin}{end}`. `end` is -1 if it is missing: `{begin}{}`. */
export function readFrames(cursor: Cursor): { begin: number; end: number } | undefined {
  skipBlanks(cursor)
  if (!skipCharacter(cursor, '{')) return undefined
  const begin = readNumber(cursor, 9)
  if (begin === -1 || !skipCharacter(cursor, '}')) return undefined
  skipBlanks(cursor)
  if (!skipCharacter(cursor, '{')) return undefined
  const end = readNumber(cursor, 9)
  return skipCharacter(cursor, '}') ? { begin, end } : undefined
}

function parseRate(text: string): number {
  return /^\s{0,40}\d{1,3}(?:\.\d{1,10})?\s{0,40}$/.test(text) ? Number(text) : 0
}

/** Bit numbers of the styles, the innermost first. A set of styles is a bit mask. */
const STYLES = ['b', 'i', 'u']
/** Tags by bit mask. */
const OPENING_TAGS = buildTagsByMask((inner, style) => `<${style}>${inner}`)
const CLOSING_TAGS = buildTagsByMask((inner, style) => `${inner}</${style}>`)

/**
 * Converts the text of a MicroDVD line in one pass. `|` separates lines, `{y:i}` makes one line italic, `{Y:i}` all lines. Other controls
 * (colour, font, size, position) are removed.
 */
function microDvdText(source: string): string {
  if (source.length > MAX_SOURCE_UNITS) throw captionTextTooLong()
  if (!source.includes('|') && !source.includes('{')) return source
  let result = ''
  let line = ''
  let from = 0
  /** Styles of the current line and of all lines; -1 until a control sets them. */
  let lineStyles = -1
  let allStyles = -1
  for (let at = 0; at <= source.length; at++) {
    const code = source.charCodeAt(at)
    if (code === LINE_SEPARATOR || at === source.length) {
      result += withStyles(line + source.slice(from, at), lineStyles)
      if (code === LINE_SEPARATOR) result += '\n'
      line = ''
      lineStyles = -1
      from = at + 1
    } else if (code === OPENING_BRACE && source.charCodeAt(at + 2) === COLON) {
      const letter = source.charAt(at + 1)
      if (letter === 'y' && lineStyles === -1) lineStyles = readStyles(source, at + 3)
      if (letter === 'Y' && allStyles === -1) allStyles = readStyles(source, at + 3)
      const end = 'yfscpoh'.includes(letter.toLowerCase()) ? controlEnd(source, at + 3) : -1
      if (end === -1) continue
      line += source.slice(from, at)
      from = end
      at = end - 1
    }
  }
  return withStyles(result, allStyles)
}

function withStyles(text: string, styles: number): string {
  return styles > 0 ? `${OPENING_TAGS[styles]}${text}${CLOSING_TAGS[styles]}` : text
}

/** Reads `b,i}` as a bit mask. Returns 0 if the control is not closed or contains other letters. */
function readStyles(source: string, start: number): number {
  let styles = 0
  for (let at = start; at <= start + 10; at++) {
    const letter = source.charAt(at)
    if (letter === '}') return styles
    const bit = STYLES.indexOf(letter)
    if (bit >= 0) styles |= 1 << bit
    else if (letter !== ',') return 0
  }
  return 0
}

/** Returns the index after the `}`, or -1 if the control is not closed. */
function controlEnd(source: string, start: number): number {
  for (let at = start; at <= start + MAX_CONTROL_UNITS; at++) {
    const code = source.charCodeAt(at)
    if (code === CLOSING_BRACE) return at + 1
    if (code === OPENING_BRACE || code === LINE_SEPARATOR || Number.isNaN(code)) return -1
  }
  return -1
}

/** Returns one text for each bit mask of styles. */
function buildTagsByMask(add: (inner: string, style: string) => string): string[] {
  return Array.from({ length: 1 << STYLES.length }, (_, mask) => STYLES.filter((_, bit) => mask & (1 << bit)).reduce(add, ''))
}
