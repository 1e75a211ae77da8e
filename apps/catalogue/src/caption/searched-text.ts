import { type CaptionLine, plainText } from '@vitascope/captions'

/**
 * Maximum length of the text, in UTF-16 units. Search reads at most 250,000 characters of captions (`words_of_captions`), each
 * of one or two units.
 */
const MAX_SEARCHED_UNITS = 500_000

/** Returns the searchable part of the lines' text. Storing the whole text would take longer than storing the lines. */
export function searchedText(lines: readonly CaptionLine[]): string {
  let text = ''
  for (const line of lines) {
    if (text.length >= MAX_SEARCHED_UNITS) break
    text += plainText([line])
  }
  return text
}
