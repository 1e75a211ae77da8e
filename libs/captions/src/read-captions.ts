import { type CaptionFormat, type CaptionLine, latestMs } from './caption-line.ts'
import { readSrt } from './read-srt.ts'
import { readSub } from './read-sub.ts'
import { readSubviewer } from './read-subviewer.ts'
import { readVtt } from './read-vtt.ts'
import { tidied } from './tidied.ts'

const READERS: Record<CaptionFormat, (text: string) => CaptionLine[]> = { srt: readSrt, sbv: readSubviewer, sub: readSub, vtt: readVtt }

/**
 * The lines of a file in the order of their beginnings; empty when it is none of that format. What cannot be read in it is passed over, and
 * so are lines that end before they begin or after 100 hours. Refuses with CAPTION_TOO_LARGE.
 */
export function readCaptions(text: string, format: CaptionFormat): CaptionLine[] {
  return READERS[format](tidied(text))
    .filter(({ endMs }) => endMs <= latestMs)
    .sort((a, b) => a.beginMs - b.beginMs)
}
