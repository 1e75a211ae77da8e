import type { CaptionLine } from './caption-line.ts'
import { readMarkup } from './markup.ts'

/** The words of each line, without formatting and without times. */
export function plainText(lines: readonly CaptionLine[]): string {
  return lines.map(({ text }) => `${wordsOf(text)}\n`).join('')
}

function wordsOf(text: string): string {
  return readMarkup(text)
    .map((token) => ('text' in token ? token.text : ''))
    .join('')
}
