import { fieldPath, invalidField, malformed } from './field-errors.ts'

/** A decoded name and value of a form or query. */
export type Pair = readonly [name: string, value: string]

/** Maximum number of fields. It is far above the number of fields of any endpoint. */
export const MAX_FIELDS = 1_000

/**
 * Parses `a=1&b=2`. Throws for an invalid percent-encoding, NUL or invalid UTF-8 instead of
 * replacing it.
 */
export function parseUrlencoded(text: string): Pair[] {
  if (text === '') return []
  const pairs = text.split('&')
  if (pairs.length > MAX_FIELDS) throw malformed(`there are more than ${MAX_FIELDS} fields`)
  return pairs.filter((part) => part !== '').map(parsePair)
}

function parsePair(part: string): Pair {
  const equals = part.indexOf('=')
  const name = decode(equals === -1 ? part : part.slice(0, equals))
  if (name === undefined || name.includes('\0')) throw malformed('the name of a field has an invalid percent-encoding or a NUL')
  const value = decode(equals === -1 ? '' : part.slice(equals + 1))
  if (value === undefined) throw invalidField(fieldPath([name]), 'has an invalid percent-encoding')
  if (value.includes('\0')) throw invalidField(fieldPath([name]), 'must be well-formed Unicode without NUL')
  return [name, value]
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}
