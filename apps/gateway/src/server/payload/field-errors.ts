import { type DomainError, type FieldError, invalid } from '@vitascope/errors'
import type { z } from 'zod'
import { domainError, MAX_ERRORS } from '../http/problem.ts'

/** Error for a payload that cannot be parsed. */
export function malformed(message: string): DomainError {
  return domainError('invalid', 'MALFORMED_PAYLOAD', message)
}

export function invalidField(field: string, message: string): DomainError {
  return invalid([{ field, message }])
}

/** The first field errors of an input, up to the maximum of a problem document. */
export class Problems {
  readonly list: FieldError[] = []

  /** True when no more problems are needed. */
  get isFull(): boolean {
    return this.list.length >= MAX_ERRORS
  }

  add(field: string, message: string): void {
    if (!this.isFull) this.list.push({ field, message })
  }
}

const MAX_PATH_LENGTH = 100

/** Returns the path of a field. The names are chosen by the caller, so long paths are cut. */
export function fieldPath(path: readonly PropertyKey[]): string {
  let text = ''
  for (const [index, part] of path.entries()) {
    if (text.length > MAX_PATH_LENGTH) break
    text += typeof part === 'number' ? `[${part}]` : `${index === 0 ? '' : '.'}${String(part).slice(0, MAX_PATH_LENGTH + 1)}`
  }
  const printable = text.replaceAll('\0', '\\0')
  return (printable.length > MAX_PATH_LENGTH ? `${printable.slice(0, MAX_PATH_LENGTH)}…` : printable).toWellFormed()
}

/**
 * Adds the errors of a schema to `problems`. `rootName` is the field name of the complete
 * input. `publicName` returns the public name of a top-level field. `knownFields` lists the names of
 * all top-level fields.
 */
export function addIssue(
  issue: z.core.$ZodIssue,
  problems: Problems,
  {
    rootName = 'payload',
    publicName = (name) => name,
    knownFields = [],
  }: { rootName?: string; publicName?: ((name: string) => string) | undefined; knownFields?: readonly string[] } = {},
): void {
  if (problems.isFull) return
  if (issue.code === 'unrecognized_keys') {
    // The list may be long, so only the first error shows it.
    const fields = issue.path.length === 0 && knownFields.length > 0 ? `; the fields are ${knownFields.join(', ')}` : ''
    for (const [index, key] of issue.keys.slice(0, MAX_ERRORS).entries()) {
      problems.add(fieldPath([...issue.path, key]), `is not a field here${index === 0 ? fields : ''}`)
    }
    return
  }
  const [first, ...rest] = issue.path
  const field = first === undefined ? rootName : fieldPath([typeof first === 'string' ? publicName(first) : first, ...rest])
  problems.add(field, formatIssue(issue))
}

/**
 * Returns the end of a sentence that starts with the field name. zod's own messages start with a
 * subject, those of our schemas do not.
 */
function formatIssue(issue: z.core.$ZodIssue): string {
  if (/received undefined$/.test(issue.message)) return 'is required'
  if (issue.code === 'invalid_type') return `must be ${/^[aeiou]/.test(issue.expected) ? 'an' : 'a'} ${issue.expected}`
  return issue.message
}
