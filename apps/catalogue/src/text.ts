import type { FieldError } from '@vitascope/errors'

/** What is wrong with a text; bounds are in characters (code points). PostgreSQL cannot keep NUL, and UTF-8 no half of a pair. */
export function checkText(field: string, text: string, { min = 0, max }: { min?: number; max: number }): FieldError[] {
  if (text.includes('\0')) return [{ field, message: 'must not contain a NUL character' }]
  if (!text.isWellFormed()) return [{ field, message: 'must be well-formed Unicode' }]
  if (text.length < min) return [{ field, message: min === 1 ? 'must not be empty' : `must have at least ${min} characters` }]
  // Only a text of more than max UTF-16 units can have more than max characters.
  if (text.length > max && [...text].length > max) return [{ field, message: `must have at most ${max} characters` }]
  return []
}

/** The first `count` characters, no pair cut in half. */
export function firstCharacters(text: string, count: number): string {
  return text.length <= count ? text : [...text].slice(0, count).join('')
}

/** A text of another service, fit to be stored and shown. */
export function tidy(text: string, max: number): string {
  return firstCharacters(text.replaceAll('\0', '').toWellFormed(), max)
}
