import type { CaptionLine } from './caption-line.ts'
import { clockMs, fractionMs } from './clock.ts'
import { headOf, textLines } from './text-lines.ts'
import { collectLines, type LineKind, readTimedBlocks } from './timed-blocks.ts'

const TIMES = /^\s{0,40}(\d{1,5}):(\d{1,2}):(\d{1,2})[.](\d{1,3}),\s{0,40}(\d{1,5}):(\d{1,2}):(\d{1,2})[.](\d{1,3})(?!\d)/
const MOMENT = /^\s{0,40}\[(\d{1,5}):(\d{1,2}):(\d{1,2})\]\s{0,40}$/
/** Milliseconds that the last text of a SubViewer 1 file shows, where nothing ends it. */
const lastMs = 5_000

/** SubViewer 2, and `.sbv`: `0:00:01.000,0:00:02.500`, then the text. */
export function readSubviewer(text: string): CaptionLine[] {
  return readTimedBlocks(textLines(text), kindOf, (block) => withBreaks(block.filter((line) => line.trim() !== '').join('\n')))
}

export function isSubviewerTime(line: string): boolean {
  return TIMES.test(headOf(line))
}

function kindOf(line: string): LineKind {
  const [, h1, m1, s1, f1, h2, m2, s2, f2] = TIMES.exec(headOf(line)) ?? []
  return f1 === undefined ? 'text' : { beginMs: clockMs(h1, m1, s1, fractionMs(f1)), endMs: clockMs(h2, m2, s2, fractionMs(f2)) }
}

/** SubViewer 1: `[00:00:01]`, then the text in one line; the next moment ends it. */
export function readSubviewer1(text: string): CaptionLine[] {
  const found = collectLines()
  let beginMs: number | undefined
  let words = ''
  for (const line of textLines(text)) {
    const at = momentOf(line)
    if (at === undefined) {
      if (words === '' && beginMs !== undefined) words = line
      continue
    }
    if (beginMs !== undefined) found.add({ beginMs, endMs: at }, withBreaks(words.replaceAll('|', '\n')))
    beginMs = at
    words = ''
  }
  const isEnd = /^\s{0,40}(?:\[end\]|\*{4,80})/i.test(headOf(words))
  if (beginMs !== undefined && !isEnd) found.add({ beginMs, endMs: beginMs + lastMs }, withBreaks(words.replaceAll('|', '\n')))
  return found.lines
}

export function momentOf(line: string): number | undefined {
  const [, hours, minutes, seconds] = MOMENT.exec(headOf(line)) ?? []
  return seconds === undefined ? undefined : clockMs(hours, minutes, seconds, 0)
}

function withBreaks(text: string): string {
  return text.replaceAll(/\[br\]/gi, '\n')
}
