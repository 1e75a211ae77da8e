import type { CaptionLine } from './caption-line.ts'
import { clockMs } from './clock.ts'
import { headOf, textLines } from './text-lines.ts'
import { type LineKind, readTimedBlocks } from './timed-blocks.ts'

const TIMES =
  /^\s{0,40}(?:(\d{1,5}):)?(\d{1,4}):(\d{1,2})[,.](\d{1,3})\s{0,40}-->\s{0,40}(?:(\d{1,5}):)?(\d{1,4}):(\d{1,2})[,.](\d{1,3})(?!\d)/

/**
 * SubRip. A text lasts until the next times: empty lines part nothing, as players take it. The number in front of those times is no text.
 */
export function readSrt(text: string): CaptionLine[] {
  return readTimedBlocks(textLines(text), kindOf, withoutCounter)
}

function kindOf(line: string): LineKind {
  const [, h1, m1, s1, f1, h2, m2, s2, f2] = TIMES.exec(headOf(line)) ?? []
  // Players read the last part as a number: `,5` is 5 ms.
  return f1 === undefined ? 'text' : { beginMs: clockMs(h1, m1, s1, Number(f1)), endMs: clockMs(h2, m2, s2, Number(f2)) }
}

/** A number in a line of its own is text only where no times follow it. */
function withoutCounter(block: string[], next: LineKind): string {
  const counts = next !== 'end' && /^\s{0,40}\d{1,10}\s{0,40}$/.test(headOf(block.at(-1) ?? ''))
  const lines = counts ? block.slice(0, -1) : block
  return lines.filter((line) => line !== '').join('\n')
}
