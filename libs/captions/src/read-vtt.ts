import type { CaptionLine } from './caption-line.ts'
import { readTimedBlocks } from './timed-blocks.ts'
import { withoutVttMarkup } from './vtt-markup.ts'

/** WebVTT. Only what follows times counts: header, notes, styles, regions and the names of cues are passed over. */
export function readVtt(text: string): CaptionLine[] {
  return readTimedBlocks(text, { arrow: true, fraction: true, emptyLineEnds: true, textOf: withoutVttMarkup })
}
