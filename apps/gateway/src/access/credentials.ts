import type { IncomingMessage } from 'node:http'
import { type DomainError, isDomainError } from '@vitascope/errors'
import { refusal } from '../http/problem.ts'
import { hasKeyForm } from './key-form.ts'

/** The key that a request brings, undefined for guests; refuses with 401 everything that is neither. */
export function readKey(request: IncomingMessage, queried: string | undefined): string | undefined {
  // Guests send none, and telling all headers apart costs more than looking for one.
  const headers = request.headers.authorization === undefined ? [] : (request.headersDistinct['authorization'] ?? [])
  const [header] = headers
  if (headers.length > 1 || (header !== undefined && queried !== undefined)) throw malformed('send one key')
  if (header === undefined && queried === undefined) return undefined
  const key = queried ?? keyOf(header ?? '')
  if (!hasKeyForm(key)) throw malformed('this is no key')
  return key
}

export function isMalformedKey(error: unknown): error is DomainError {
  return isDomainError(error) && error.reason === 'KEY_MALFORMED'
}

/** `Basic base64(KEY:x)` or `Bearer KEY`. */
function keyOf(header: string): string {
  const [, scheme = '', value = ''] = /^([A-Za-z]+) +([A-Za-z0-9+/=._~-]+)$/.exec(header) ?? []
  if (/^bearer$/i.test(scheme)) return value
  if (!/^basic$/i.test(scheme)) throw malformed('send it as Basic KEY:x or as Bearer KEY')
  const bytes = Buffer.from(value, 'base64')
  // Node's decoder passes over what is no base64; only what comes out again as it came in was some.
  if (bytes.toString('base64').replace(/(?<!=)=+$/, '') !== value.replace(/(?<!=)=+$/, '')) throw malformed('the value is no base64')
  const [key = '', password, ...rest] = bytes.toString('latin1').split(':')
  if (password !== 'x' || rest.length > 0) throw malformed('the key is the user name, and the password is x')
  return key
}

function malformed(why: string): DomainError {
  return refusal('unauthenticated', 'KEY_MALFORMED', `the key cannot be read: ${why}`)
}
