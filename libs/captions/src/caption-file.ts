import type { CaptionFormat, CaptionLine } from './caption-line.ts'
import { decodeText } from './decode-text.ts'
import { readCaptions } from './read-captions.ts'

/** A file of captions: its bytes, or the text that they are. */
export interface CaptionFile {
  content: Uint8Array | string
  format: CaptionFormat
}

export function readCaptionFile({ content, format }: CaptionFile): CaptionLine[] {
  return readCaptions(typeof content === 'string' ? content : decodeText(content), format)
}
