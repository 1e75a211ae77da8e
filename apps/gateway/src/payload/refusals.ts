import { type DomainError, type FieldError, invalid } from '@vitascope/errors'
import { MOST_ERRORS, refusal } from '../http/problem.ts'

/** For what cannot be read at all. */
export function malformed(message: string): DomainError {
  return refusal('invalid', 'MALFORMED_PAYLOAD', message)
}

export function badField(field: string, message: string): DomainError {
  return invalid([{ field, message }])
}

/** The first bad fields of an input: as many as an answer names. */
export class Problems {
  readonly found: FieldError[] = []

  /** True when looking for more makes no sense. */
  get full(): boolean {
    return this.found.length >= MOST_ERRORS
  }

  note(field: string, message: string): void {
    if (!this.full) this.found.push({ field, message })
  }
}

const LONGEST_PATH = 100

/** Names in messages are the caller's own words: long ones are cut. */
export function fieldPath(path: readonly PropertyKey[]): string {
  let text = ''
  for (const [index, part] of path.entries()) {
    if (text.length > LONGEST_PATH) break
    text += typeof part === 'number' ? `[${part}]` : `${index === 0 ? '' : '.'}${String(part).slice(0, LONGEST_PATH + 1)}`
  }
  const written = text.replaceAll('\0', '\\0')
  return (written.length > LONGEST_PATH ? `${written.slice(0, LONGEST_PATH)}…` : written).toWellFormed()
}
