import type { CaptionLine } from './caption-line.ts'
import { type Cursor, lineEnd, readNumber, skipBlanks, skipCharacter } from './scanner.ts'
import { createCollector, readTimedBlocks, type TimedFormat } from './timed-blocks.ts'

/** Duration of the last caption of a SubViewer 1 file if the file has no end time for it. */
const LAST_DURATION_MS = 5_000

export const SUBVIEWER_2: TimedFormat = { hasArrow: false, isFraction: true, blankIsEmpty: true, toText: replaceBreaks }

/** Reads SubViewer 2 and `.sbv`: `0:00:01.000,0:00:02.500`, then the text. */
export function readSubviewer2(text: string): CaptionLine[] {
  return readTimedBlocks(text, SUBVIEWER_2)
}

/** Reads SubViewer 1: `[00:00:01]`, then one line of text. The next time ends the caption. */
export function readSubviewer1(text: string): CaptionLine[] {
  const collector = createCollector()
  const cursor: Cursor = { text, at: 0 }
  let beginMs = -1
  let source = ''
  for (let start = 0, end = 0; start < text.length; start = end + 1) {
    cursor.at = start
    const timeMs = readTimeLine(cursor)
    end = lineEnd(text, cursor.at)
    if (timeMs === -1) {
      if (source === '' && beginMs !== -1) source = text.slice(start, end)
      continue
    }
    if (beginMs !== -1) collector.add({ beginMs, endMs: timeMs }, toText(source))
    beginMs = timeMs
    source = ''
  }
  const isEndMark = /^\s{0,40}(?:\[end\]|\*{4,80})/i.test(source.slice(0, 300))
  if (beginMs !== -1 && !isEndMark) collector.add({ beginMs, endMs: beginMs + LAST_DURATION_MS }, toText(source))
  return collector.lines
}

/** Reads a line that contains only `[00:00:01]`. Returns milliseconds, or -1 for any other line. */
export function readTimeLine(cursor: Cursor): number {
  skipBlanks(cursor)
  if (!skipCharacter(cursor, '[')) return -1
  const hours = readNumber(cursor, 5)
  if (hours === -1 || !skipCharacter(cursor, ':')) return -1
  const minutes = readNumber(cursor, 2)
  if (minutes === -1 || !skipCharacter(cursor, ':')) return -1
  const seconds = readNumber(cursor, 2)
  if (seconds === -1 || !skipCharacter(cursor, ']')) return -1
  skipBlanks(cursor)
  const isLineEnd = cursor.at === cursor.text.length || cursor.text[cursor.at] === '\n'
  return isLineEnd ? ((hours * 60 + minutes) * 60 + seconds) * 1_000 : -1
}

function toText(source: string): string {
  return replaceBreaks(source.includes('|') ? source.replaceAll(/\|/g, '\n') : source)
}

function replaceBreaks(text: string): string {
  return text.includes('[') ? text.replaceAll(/\[br\]/gi, '\n') : text
}
