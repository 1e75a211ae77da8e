import { type CaptionLine, longestText, tooLongText } from './caption-line.ts'
import { collectLines } from './collect-lines.ts'
import { type Cursor, isBlank, lineEnd, passBlanks, readNumber } from './cursor.ts'
import { readTimes, type Times, type TimesForm } from './times.ts'

/** Files in which each text follows its times. */
export interface TimedForm extends TimesForm {
  /** Whether an empty line ends a text; if not, only the next times do, and empty lines are left out. */
  emptyLineEnds?: boolean
  /** Whether a line of blanks is an empty one. */
  blankIsEmpty?: boolean
  /** Whether a number in a line of its own in front of times is no text. */
  hasCounters?: boolean
  /** The text that the lines say. */
  textOf?: (lines: string) => string
}

/** What its markup is may be longer than the text. */
const longestLines = 6 * longestText

export function readTimedBlocks(text: string, form: TimedForm): CaptionLine[] {
  const { emptyLineEnds = false, blankIsEmpty = false, hasCounters = false, textOf = (lines) => lines } = form
  const found = collectLines()
  const cursor: Cursor = { text, at: 0 }
  let times: Times | undefined
  let words = ''
  /** Where the lines begin that are not yet among the words, and where the last one of them does; -1 while there are none. */
  let from = -1
  let last = -1

  const keep = (end: number) => {
    if (from >= 0 && end > from) words += words === '' ? text.slice(from, end) : `\n${text.slice(from, end)}`
    from = -1
    last = -1
  }
  /** `end` is where the line after the text begins. */
  const close = (end: number, next: Times | undefined) => {
    if (times) {
      keep(next && hasCounters && last >= 0 && isCounter(text, last) ? last - 1 : end - 1)
      found.add(times, textOf(words))
    }
    // What shows for no time at all is never read.
    times = next && next.beginMs < next.endMs ? next : undefined
    words = ''
  }

  let start = 0
  while (start < text.length) {
    cursor.at = start
    const next = readTimes(cursor, form)
    const end = lineEnd(text, cursor.at)
    if (next) close(start, next)
    else if (end === start || (blankIsEmpty && isBlankLine(text, start, end))) {
      if (emptyLineEnds) close(start, undefined)
      else keep(start - 1)
    } else if (times) {
      if (from === -1) from = start
      last = start
      if (words.length + end - from > longestLines) throw tooLongText()
    }
    start = end + 1
  }
  // The last line may have no end of its own.
  close(text.endsWith('\n') ? start : text.length + 1, undefined)
  return found.lines
}

function isBlankLine(text: string, start: number, end: number): boolean {
  let at = start
  while (at < end && isBlank(text.charCodeAt(at))) at++
  return at === end
}

function isCounter(text: string, start: number): boolean {
  const cursor: Cursor = { text, at: start }
  passBlanks(cursor)
  if (readNumber(cursor, 10) === -1) return false
  passBlanks(cursor)
  return cursor.at === lineEnd(text, cursor.at)
}
