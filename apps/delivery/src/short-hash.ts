import { createHash } from 'node:crypto'

/** Returns 22 characters that identify a text. */
export function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}
