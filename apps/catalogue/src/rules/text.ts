import type { FieldError } from '@vitascope/errors'

/**
 * Returns the problems of a text. Bounds are in characters (code points). PostgreSQL cannot store
 * NUL, and UTF-8 cannot encode a lone surrogate.
 */
export function checkText(field: string, text: string, { min = 0, max }: { min?: number; max: number }): FieldError[] {
  if (text.includes('\0')) return [{ field, message: 'must not contain a NUL character' }]
  if (!text.isWellFormed()) return [{ field, message: 'must be well-formed Unicode' }]
  if (text.length < min) return [{ field, message: min === 1 ? 'must not be empty' : `must have at least ${min} characters` }]
  // Only a text of more than `max` UTF-16 units can have more than `max` characters.
  if (text.length > max && [...text].length > max) return [{ field, message: `must have at most ${max} characters` }]
  return []
}

/** Returns the first `count` characters (code points), without splitting a surrogate pair. */
export function firstCharacters(text: string, count: number): string {
  return text.length <= count ? text : [...text].slice(0, count).join('')
}

/**
 * Returns a text of another service in a form that can be stored: without NUL, well-formed, and at
 * most `max` characters.
 */
export function tidy(text: string, max: number): string {
  return firstCharacters(text.replaceAll('\0', '').toWellFormed(), max)
}
