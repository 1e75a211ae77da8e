import type { CaptionLine } from './caption-line.ts'
import { readTimedBlocks } from './timed-blocks.ts'

/**
 * SubRip. A text lasts until the next times: empty lines part nothing, as players take it. The number in front of those times is no text;
 * at the end of the file it is one. Players read the last part of times as a number: `,5` is 5 ms.
 */
export function readSrt(text: string): CaptionLine[] {
  return readTimedBlocks(text, { arrow: true, fraction: false, hasCounters: true })
}
