import type { CaptionLine } from './caption-line.ts'
import { isMicroDvdLine, readMicroDvd } from './read-microdvd.ts'
import { isSubviewerTime, momentOf, readSubviewer, readSubviewer1 } from './read-subviewer.ts'
import { textLines } from './text-lines.ts'

/** `.sub` is three formats; the first line that belongs to one of them decides. */
export function readSub(text: string): CaptionLine[] {
  for (const line of textLines(text)) {
    if (isMicroDvdLine(line)) return readMicroDvd(text)
    if (isSubviewerTime(line)) return readSubviewer(text)
    if (momentOf(line) !== undefined) return readSubviewer1(text)
  }
  return []
}
