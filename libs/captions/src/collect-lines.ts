import { type CaptionLine, captionTooLarge, longestText, mostLines, tooLongText } from './caption-line.ts'
import { isBlank } from './cursor.ts'
import type { Times } from './times.ts'

/** Collects the lines of a file, and refuses it as soon as it is too long. */
export function collectLines() {
  const lines: CaptionLine[] = []
  return {
    lines,
    /** One whose text is blank, or which does not end after its beginning, is passed over: it is never seen. */
    add({ beginMs, endMs }: Times, text: string): void {
      if (endMs <= beginMs || isBlankText(text)) return
      if (isTooLong(text)) throw tooLongText()
      if (lines.length === mostLines) throw captionTooLarge(`captions have at most ${mostLines} lines: this file has more`)
      lines.push({ beginMs, endMs, text })
    },
  }
}

function isBlankText(text: string): boolean {
  let at = 0
  while (at < text.length && isBlank(text.charCodeAt(at))) at++
  return at === text.length
}

/** A character is at most two units. */
function isTooLong(text: string): boolean {
  if (text.length <= longestText) return false
  if (text.length > 2 * longestText) return true
  let characters = 0
  for (let at = 0; at < text.length; at++) if ((text.charCodeAt(at) & 0xfc00) !== 0xdc00) characters++
  return characters > longestText
}
