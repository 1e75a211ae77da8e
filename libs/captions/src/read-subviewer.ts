import type { CaptionLine } from './caption-line.ts'
import { collectLines } from './collect-lines.ts'
import { type Cursor, lineEnd, passBlanks, passMark, readNumber } from './cursor.ts'
import { readTimedBlocks, type TimedForm } from './timed-blocks.ts'

/** Milliseconds that the last text of a SubViewer 1 file shows, where nothing ends it. */
const lastMs = 5_000

export const subviewerForm: TimedForm = { arrow: false, fraction: true, blankIsEmpty: true, textOf: withBreaks }

/** SubViewer 2, and `.sbv`: `0:00:01.000,0:00:02.500`, then the text. */
export function readSubviewer(text: string): CaptionLine[] {
  return readTimedBlocks(text, subviewerForm)
}

/** SubViewer 1: `[00:00:01]`, then the text in one line; the next moment ends it. */
export function readSubviewer1(text: string): CaptionLine[] {
  const found = collectLines()
  const cursor: Cursor = { text, at: 0 }
  let beginMs = -1
  let words = ''
  for (let start = 0, end = 0; start < text.length; start = end + 1) {
    cursor.at = start
    const at = readLineOfMoment(cursor)
    end = lineEnd(text, cursor.at)
    if (at === -1) {
      if (words === '' && beginMs !== -1) words = text.slice(start, end)
      continue
    }
    if (beginMs !== -1) found.add({ beginMs, endMs: at }, textOf(words))
    beginMs = at
    words = ''
  }
  const isEnd = /^\s{0,40}(?:\[end\]|\*{4,80})/i.test(words.slice(0, 300))
  if (beginMs !== -1 && !isEnd) found.add({ beginMs, endMs: beginMs + lastMs }, textOf(words))
  return found.lines
}

/** The milliseconds of `[00:00:01]`, a line of its own; -1 for any other line. */
export function readLineOfMoment(cursor: Cursor): number {
  passBlanks(cursor)
  if (!passMark(cursor, '[')) return -1
  const hours = readNumber(cursor, 5)
  if (hours === -1 || !passMark(cursor, ':')) return -1
  const minutes = readNumber(cursor, 2)
  if (minutes === -1 || !passMark(cursor, ':')) return -1
  const seconds = readNumber(cursor, 2)
  if (seconds === -1 || !passMark(cursor, ']')) return -1
  passBlanks(cursor)
  const isWhole = cursor.at === cursor.text.length || cursor.text[cursor.at] === '\n'
  return isWhole ? ((hours * 60 + minutes) * 60 + seconds) * 1_000 : -1
}

function textOf(words: string): string {
  return withBreaks(words.includes('|') ? words.replaceAll(/\|/g, '\n') : words)
}

function withBreaks(text: string): string {
  return text.includes('[') ? text.replaceAll(/\[br\]/gi, '\n') : text
}
