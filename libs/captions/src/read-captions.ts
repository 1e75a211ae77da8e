import { type CaptionFormat, type CaptionLine, MAX_TIME_MS } from './caption-line.ts'
import { decodeText, normalizeText } from './decode-text.ts'
import { readFrames, readMicroDvd } from './microdvd.ts'
import { type Cursor, lineEnd } from './scanner.ts'
import { readSubviewer1, readSubviewer2, readTimeLine, SUBVIEWER_2 } from './subviewer.ts'
import { readTimedBlocks, readTimes } from './timed-blocks.ts'
import { withoutVttMarkup } from './vtt-markup.ts'

/** A caption file as bytes or as decoded text. */
export interface CaptionFile {
  content: Uint8Array | string
  format: CaptionFormat
}

/** Reads a file as `readCaptions` does. */
export function readCaptionFile({ content, format }: CaptionFile): CaptionLine[] {
  return readCaptions(typeof content === 'string' ? content : decodeText(content), format)
}

/**
 * Returns the captions of a file in the order of their begin times. Returns none if the text is not of the format. Ignores text that it cannot
 * read, and captions that end before they begin or after 100 hours. Throws CAPTION_TOO_LARGE.
 */
export function readCaptions(text: string, format: CaptionFormat): CaptionLine[] {
  return READERS[format](normalizeText(text))
    .filter(({ endMs }) => endMs <= MAX_TIME_MS)
    .sort((a, b) => a.beginMs - b.beginMs)
}

const READERS: Record<CaptionFormat, (text: string) => CaptionLine[]> = { srt: readSrt, sbv: readSubviewer2, sub: readSub, vtt: readVtt }

/**
 * Reads SubRip with the rules of players. A text lasts until the next times, across empty lines. The number in front of times is a counter; at the end
 * of the file it is text. The last part of a time is a number of milliseconds: `,5` is 5 ms.
 */
function readSrt(text: string): CaptionLine[] {
  return readTimedBlocks(text, { hasArrow: true, isFraction: false, hasCounters: true })
}

/** Reads WebVTT. Header, notes, styles, regions and cue identifiers are ignored. */
function readVtt(text: string): CaptionLine[] {
  return readTimedBlocks(text, { hasArrow: true, isFraction: true, emptyLineEnds: true, toText: withoutVttMarkup })
}

/** Reads a `.sub` file. Three formats have this extension. The first line that belongs to one of them decides. */
function readSub(text: string): CaptionLine[] {
  const cursor: Cursor = { text, at: 0 }
  for (let start = 0; start < text.length; start = lineEnd(text, cursor.at) + 1) {
    cursor.at = start
    if (readFrames(cursor)) return readMicroDvd(text)
    cursor.at = start
    if (readTimes(cursor, SUBVIEWER_2)) return readSubviewer2(text)
    cursor.at = start
    if (readTimeLine(cursor) !== -1) return readSubviewer1(text)
  }
  return []
}
