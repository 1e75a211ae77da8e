import { type CaptionLine, captionTextTooLong, captionTooLarge, MAX_LINES, MAX_TEXT_CHARACTERS } from './caption-line.ts'
import { type Cursor, isBlankRange, isDigit, lineEnd, readNumber, skipBlanks, skipCharacter } from './scanner.ts'

/** Begin and end of a caption in milliseconds. */
export type Times = Pick<CaptionLine, 'beginMs' | 'endMs'>

/** Notation of times in a format. */
export interface TimesFormat {
  /** If true, `-->` separates begin and end, hours are optional, and the fraction may follow a comma. If false, a comma separates them. */
  hasArrow: boolean
  /** If true, `.5` is half a second. If false, it is 5 ms. */
  isFraction: boolean
}

/** A format in which the text of a caption follows its times. */
export interface TimedFormat extends TimesFormat {
  /** Whether an empty line ends the text. Otherwise only the next times end it, and empty lines are omitted. Default: false. */
  emptyLineEnds?: boolean
  /** Whether a line of white space counts as empty. Default: false. */
  blankIsEmpty?: boolean
  /** Whether a number on a line of its own in front of times is a counter and not text. Default: false. */
  hasCounters?: boolean
  /** Converts the lines of the file to the text of the caption. Default: unchanged. */
  toText?: (lines: string) => string
}

/** Markup may make the lines of a caption longer than its text. */
const MAX_SOURCE_UNITS = 6 * MAX_TEXT_CHARACTERS

/** Returns the captions of a file. Throws CAPTION_TOO_LARGE. The time is linear in the length of the text. */
export function readTimedBlocks(text: string, format: TimedFormat): CaptionLine[] {
  const { emptyLineEnds = false, blankIsEmpty = false, hasCounters = false, toText = (lines) => lines } = format
  const collector = createCollector()
  const cursor: Cursor = { text, at: 0 }
  let times: Times | undefined
  let source = ''
  /** Start of the lines that are not yet part of `source`, and start of the last one of them; -1 if there are none. */
  let pendingStart = -1
  let lastLineStart = -1

  const appendPending = (end: number) => {
    if (pendingStart >= 0 && end > pendingStart) {
      source += source === '' ? text.slice(pendingStart, end) : `\n${text.slice(pendingStart, end)}`
    }
    pendingStart = -1
    lastLineStart = -1
  }
  /** Adds the current caption. `nextLine` is the start of the line after its text. */
  const finishCaption = (nextLine: number, next: Times | undefined) => {
    if (times) {
      const endsWithCounter = next !== undefined && hasCounters && lastLineStart >= 0 && isCounter(text, lastLineStart)
      appendPending(endsWithCounter ? lastLineStart - 1 : nextLine - 1)
      collector.add(times, toText(source))
    }
    // The text of a caption without duration is not read.
    times = next && next.beginMs < next.endMs ? next : undefined
    source = ''
  }

  let start = 0
  while (start < text.length) {
    cursor.at = start
    const next = readTimes(cursor, format)
    const end = lineEnd(text, cursor.at)
    if (next) finishCaption(start, next)
    else if (end === start || (blankIsEmpty && isBlankRange(text, start, end))) {
      if (emptyLineEnds) finishCaption(start, undefined)
      else appendPending(start - 1)
    } else if (times) {
      if (pendingStart === -1) pendingStart = start
      lastLineStart = start
      if (source.length + end - pendingStart > MAX_SOURCE_UNITS) throw captionTextTooLong()
    }
    start = end + 1
  }
  // The last line may lack its line end.
  finishCaption(text.endsWith('\n') ? start : text.length + 1, undefined)
  return collector.lines
}

function isCounter(text: string, start: number): boolean {
  const cursor: Cursor = { text, at: start }
  skipBlanks(cursor)
  if (readNumber(cursor, 10) === -1) return false
  skipBlanks(cursor)
  return cursor.at === lineEnd(text, cursor.at)
}

/** Reads the times at the beginning of a line. Returns undefined if the line does not begin with times. */
export function readTimes(cursor: Cursor, format: TimesFormat): Times | undefined {
  skipBlanks(cursor)
  const beginMs = readTime(cursor, format)
  if (beginMs === -1) return undefined
  if (format.hasArrow) {
    skipBlanks(cursor)
    if (!cursor.text.startsWith('-->', cursor.at)) return undefined
    cursor.at += 3
  } else if (!skipCharacter(cursor, ',')) return undefined
  skipBlanks(cursor)
  const endMs = readTime(cursor, format)
  return endMs === -1 || isDigit(cursor.text.charCodeAt(cursor.at)) ? undefined : { beginMs, endMs }
}

/** Reads a time in milliseconds. Returns -1 if no time follows. Minutes may exceed 59. */
function readTime(cursor: Cursor, format: TimesFormat): number {
  const { hasArrow } = format
  const start = cursor.at
  const first = readNumber(cursor, 5)
  const firstDigits = cursor.at - start
  if (first === -1 || !skipCharacter(cursor, ':')) return -1
  const middle = cursor.at
  const second = readNumber(cursor, hasArrow ? 4 : 2)
  const secondDigits = cursor.at - middle
  if (second === -1) return -1
  if (!skipCharacter(cursor, ':')) {
    const isMinutesAndSeconds = hasArrow && firstDigits <= 4 && secondDigits <= 2
    return isMinutesAndSeconds ? readFraction(cursor, first * 60 + second, format) : -1
  }
  const seconds = readNumber(cursor, 2)
  return seconds === -1 ? -1 : readFraction(cursor, (first * 60 + second) * 60 + seconds, format)
}

function readFraction(cursor: Cursor, seconds: number, { hasArrow, isFraction }: TimesFormat): number {
  if (!skipCharacter(cursor, '.') && !(hasArrow && skipCharacter(cursor, ','))) return -1
  const start = cursor.at
  const digits = readNumber(cursor, 3)
  if (digits === -1) return -1
  return seconds * 1_000 + (isFraction ? digits * 10 ** (3 - (cursor.at - start)) : digits)
}

/** Collects captions. Ignores those that are never visible, and throws CAPTION_TOO_LARGE as soon as a limit is exceeded. */
export function createCollector() {
  const lines: CaptionLine[] = []
  return {
    lines,
    add({ beginMs, endMs }: Times, text: string): void {
      if (endMs <= beginMs || isBlankRange(text, 0, text.length)) return
      if (isTooLong(text)) throw captionTextTooLong()
      if (lines.length === MAX_LINES) throw captionTooLarge(`a file has at most ${MAX_LINES} captions: this file has more`)
      lines.push({ beginMs, endMs, text })
    },
  }
}

/** Returns whether a text has too many characters. It counts them only if the number of code units is not sufficient to decide. */
function isTooLong(text: string): boolean {
  if (text.length <= MAX_TEXT_CHARACTERS) return false
  if (text.length > 2 * MAX_TEXT_CHARACTERS) return true
  let characters = 0
  for (let at = 0; at < text.length; at++) if ((text.charCodeAt(at) & 0xfc00) !== 0xdc00) characters++
  return characters > MAX_TEXT_CHARACTERS
}
