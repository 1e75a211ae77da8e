/**
 * Returns false for NUL, which PostgreSQL rejects, and for lone surrogates, which would silently be
 * replaced.
 */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/**
 * Returns the number of code points, as PostgreSQL and JSON Schema count them. It is exact up to
 * `max`, and any larger number above it.
 */
export function lengthUpTo(text: string, max: number): number {
  // A code point has at most two UTF-16 units, so a longer text exceeds `max` without counting.
  return text.length > 2 * max ? text.length : [...text].length
}
