import { randomInt } from 'node:crypto'
import { DomainError, invalid } from '@vitascope/errors'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const TRIES = 20

/** Makes a text of so many characters. */
export type TextMaker = (length: number) => string

export interface RandomTexts {
  /** Remembers a text for good; false when it was there already. */
  claim(text: string, signal?: AbortSignal): Promise<boolean>
}

export function textMaker(alphabet = ALPHABET): TextMaker {
  return (length) => Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('')
}

/** A text that was never given before. It does not look for long: a space that is all but full is a reason to ask for more characters. */
export async function giveText(texts: RandomTexts, make: TextMaker, length: number, signal?: AbortSignal): Promise<string> {
  if (!Number.isInteger(length) || length < 4 || length > 10) throw invalid([{ field: 'length', message: 'must be from 4 to 10' }])
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    const text = make(length)
    if (await texts.claim(text, signal)) return text
  }
  throw new DomainError('unavailable', 'IDS_EXHAUSTED', 'hardly any id of this length is left: ask for a longer one', { retryAfter: 60 })
}
