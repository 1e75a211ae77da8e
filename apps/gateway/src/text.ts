/** PostgreSQL takes no NUL, and a lone surrogate would silently become another character on its way there. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/** Code points, as PostgreSQL and JSON Schema count them; exact up to `most`, anything above it otherwise. */
export function lengthUpTo(text: string, most: number): number {
  // A code point is at most two units, so a text past that is too long without counting.
  return text.length > 2 * most ? text.length : [...text].length
}
