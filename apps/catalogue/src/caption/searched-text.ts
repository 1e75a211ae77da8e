import { type CaptionLine, plainText } from '@vitascope/captions'

/** Units of UTF-16: the 250,000 characters that search reads of captions (`words_of_captions`), whatever they are. */
const searchedUnits = 500_000

/** The words of the lines as far as they are searched: all of them take longer to store than the lines do. */
export function searchedText(lines: readonly CaptionLine[]): string {
  let text = ''
  for (const line of lines) {
    if (text.length >= searchedUnits) break
    text += plainText([line])
  }
  return text
}
