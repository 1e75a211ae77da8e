import { randomInt } from 'node:crypto'
import { DomainError, invalid } from '@vitascope/errors'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const MAX_ATTEMPTS = 20

/** Returns a random text of `length` characters. */
export type TextGenerator = (length: number) => string

export interface RandomTexts {
  /** Stores a text permanently. Returns false if it was stored before. */
  claim(text: string, signal?: AbortSignal): Promise<boolean>
}

export function createTextGenerator(alphabet = ALPHABET): TextGenerator {
  return (length) => Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('')
}

/**
 * Returns a text that was never returned before. Throws IDS_EXHAUSTED after 20 attempts, because almost
 * all texts of this length are then in use.
 */
export async function createUniqueText(
  texts: RandomTexts,
  createText: TextGenerator,
  length: number,
  signal?: AbortSignal,
): Promise<string> {
  if (!Number.isInteger(length) || length < 4 || length > 10) throw invalid([{ field: 'length', message: 'must be from 4 to 10' }])
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const text = createText(length)
    if (await texts.claim(text, signal)) return text
  }
  throw new DomainError('unavailable', 'IDS_EXHAUSTED', 'almost all ids of this length are in use; request a longer one', {
    retryAfter: 60,
  })
}
