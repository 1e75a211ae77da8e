import { type CaptionLine, plainText } from '@vitascope/captions'

/**
 * Maximum length of the text, in UTF-16 units. Search reads at most 250,000 characters of captions (`caption_words`), each
 * of one or two units.
 */
const MAX_SEARCHABLE_UNITS = 500_000

/** Returns the start of the text of the lines, for search. Storing all text takes longer than storing the lines. */
export function toSearchableText(lines: readonly CaptionLine[]): string {
  let text = ''
  for (const line of lines) {
    if (text.length >= MAX_SEARCHABLE_UNITS) break
    text += plainText([line])
  }
  return text
}
