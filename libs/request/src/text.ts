import type { FieldError } from '@vitascope/errors'

/** Bounds of a text in characters (code points). `blank: false` rejects a text of white space only. */
export interface TextBounds {
  min?: number
  max: number
  blank?: false
}

/** Returns the problems of a text. */
export function checkText(field: string, text: string, { min = 0, max, blank }: TextBounds): FieldError[] {
  if (!isStorable(text)) return [{ field, message: 'must be well-formed Unicode without NUL' }]
  if (blank === false && text.trim() === '') return [{ field, message: 'must not be blank' }]
  const length = lengthUpTo(text, max)
  if (length < min) return [{ field, message: min === 1 ? 'must not be empty' : `must have at least ${min} characters` }]
  return length > max ? [{ field, message: `must have at most ${max} characters` }] : []
}

/**
 * Returns whether PostgreSQL can store the text unchanged. It rejects NUL, and a lone surrogate
 * would be replaced.
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
