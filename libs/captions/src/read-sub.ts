import type { CaptionLine } from './caption-line.ts'
import { type Cursor, lineEnd } from './cursor.ts'
import { readFrames, readMicroDvd } from './read-microdvd.ts'
import { readLineOfMoment, readSubviewer, readSubviewer1, subviewerForm } from './read-subviewer.ts'
import { readTimes } from './times.ts'

/** `.sub` is three formats; the first line that belongs to one of them decides. */
export function readSub(text: string): CaptionLine[] {
  const cursor: Cursor = { text, at: 0 }
  for (let start = 0; start < text.length; start = lineEnd(text, cursor.at) + 1) {
    cursor.at = start
    if (readFrames(cursor)) return readMicroDvd(text)
    cursor.at = start
    if (readTimes(cursor, subviewerForm)) return readSubviewer(text)
    cursor.at = start
    if (readLineOfMoment(cursor) !== -1) return readSubviewer1(text)
  }
  return []
}
