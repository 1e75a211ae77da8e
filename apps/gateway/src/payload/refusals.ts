import { type DomainError, invalid } from '@vitascope/errors'
import { refusal } from '../http/problem.ts'

/** For what cannot be read at all. */
export function malformed(message: string): DomainError {
  return refusal('invalid', 'MALFORMED_PAYLOAD', message)
}

export function badField(field: string, message: string): DomainError {
  return invalid([{ field, message }])
}

/** Names in messages are the caller's own words: long ones are cut. */
export function fieldPath(path: readonly PropertyKey[]): string {
  const text = path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index === 0 ? '' : '.'}${String(part)}`))
    .join('')
    .replaceAll('\0', '\\0')
  const shown = text.length > 100 ? `${text.slice(0, 100)}…` : text
  return shown.toWellFormed()
}
