import type { CaptionLine } from './caption-line.ts'
import { withoutMarkup } from './markup.ts'

/** The words of each line, without formatting and without times. */
export function plainText(lines: readonly CaptionLine[]): string {
  return lines.map(({ text }) => `${withoutMarkup(text)}\n`).join('')
}
