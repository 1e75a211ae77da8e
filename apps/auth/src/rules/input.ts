import { DomainError, type FieldError, invalid } from '@vitascope/errors'

/** The problem of a value, as the rest of a sentence that starts with the field name; undefined if there is none. */
export type Problem = string | undefined

/** Collects the problems of an input, so that all invalid fields are reported at once. */
export interface Inspection {
  note(field: string, problem: Problem): void
  /** Throws INVALID_INPUT if a problem was noted. */
  check(): void
}

export function inspection(): Inspection {
  const found: FieldError[] = []
  return {
    note(field, problem) {
      if (problem !== undefined) found.push({ field, message: problem })
    },
    check() {
      if (found.length > 0) throw invalid(found)
    },
  }
}

/** Returns whether PostgreSQL can store the text unchanged. It rejects NUL, and a lone surrogate would be replaced. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/** Returns the problem of a text. Lengths are in code points. A text with a minimum length must not be blank. */
export function textProblem(text: string, { min = 0, max }: { min?: number; max: number }): Problem {
  if (!isStorable(text)) return 'must be well-formed Unicode without NUL'
  if (min > 0 && text.trim() === '') return 'must not be blank'
  // A code point has at most two UTF-16 units, so longer texts need no counting.
  const length = text.length > 2 * max ? text.length : [...text].length
  if (length >= min && length <= max) return undefined
  return min > 0 ? `must have ${min} to ${max} characters` : `must have at most ${max} characters`
}

const LOCAL_PART = /^[^\s@<>()[\],;:\\"\p{C}]{1,64}$/u
const DOMAIN_LABEL = /^[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?$/u

export function emailProblem(email: string): Problem {
  if (email === '') return 'is required'
  if (email.length > 254) return 'must have at most 254 characters'
  const at = email.lastIndexOf('@')
  const wellFormed =
    isStorable(email) &&
    LOCAL_PART.test(email.slice(0, Math.max(at, 0))) &&
    email
      .slice(at + 1)
      .split('.')
      .every((label) => DOMAIN_LABEL.test(label))
  return wellFormed ? undefined : 'must be an email address'
}

/** Returns whether a text is an id. Sequential ids are below 2^53. */
export function isId(text: string): boolean {
  return /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text))
}

/** Returns an error such as `no user 12`, with at most 40 characters of the id. */
export function notFound(noun: string, id: string): DomainError {
  const shown = isStorable(id) ? id.slice(0, 40) : ''
  return new DomainError('not_found', `${noun.replaceAll(' ', '_').toUpperCase()}_NOT_FOUND`, `no ${noun} ${shown}`.trimEnd())
}

/** Returns the fields of a mask as a set. Throws INVALID_INPUT for fields that cannot be changed. */
export function maskOf<Field extends string>(mask: readonly string[] | undefined, changeable: readonly Field[]): ReadonlySet<Field> {
  const input = inspection()
  const named = new Set<Field>()
  for (const path of new Set(mask)) {
    const field = changeable.find((name) => name === path)
    if (field) named.add(field)
    else input.note(path.slice(0, 100), 'cannot be changed')
  }
  input.check()
  return named
}
