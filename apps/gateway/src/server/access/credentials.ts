import type { IncomingMessage } from 'node:http'
import { type DomainError, isDomainError } from '@vitascope/errors'
import { domainError } from '../http/problem.ts'
import { hasKeyForm } from './key-form.ts'
import { readSessionCookie } from './session-cookie.ts'

/** The key of a request. That of a session is in a cookie. */
export interface RequestKey {
  key: string
  isSession: boolean
}

/** Returns the key of a request, or undefined for a guest. Throws 401 for a malformed key. A malformed cookie is ignored. */
export function readKey(request: IncomingMessage, queried: string | undefined): RequestKey | undefined {
  // Guests send no key, and `headersDistinct` is more expensive than one lookup.
  const headers = request.headers.authorization === undefined ? [] : (request.headersDistinct['authorization'] ?? [])
  const [header] = headers
  if (headers.length > 1 || (header !== undefined && queried !== undefined)) throw malformed('send one key')
  if (header === undefined && queried === undefined) {
    const session = readSessionCookie(request.headers.cookie)
    return session !== undefined && hasKeyForm(session) ? { key: session, isSession: true } : undefined
  }
  const key = queried ?? parseApiKey(header ?? '')
  if (!hasKeyForm(key)) throw malformed(describeFault(key))
  return { key, isSession: false }
}

export function isMalformedKey(error: unknown): error is DomainError {
  return isDomainError(error) && error.reason === 'KEY_MALFORMED'
}

const FORM = 'a key is vs_ followed by 38 letters and digits'

function describeFault(key: string): string {
  return /^vs_[0-9A-Za-z]{38}$/.test(key)
    ? `its checksum is wrong, so a character is mistyped (${FORM})`
    : `it does not have the form of a key (${FORM}); check that all of it was copied`
}

/** Returns the key of `Basic base64(KEY:x)` or `Bearer KEY`. */
function parseApiKey(header: string): string {
  const [, scheme = '', value = ''] = /^([A-Za-z]+) +([A-Za-z0-9+/=._~-]+)$/.exec(header) ?? []
  if (/^bearer$/i.test(scheme)) return value
  if (!/^basic$/i.test(scheme)) throw malformed('send it as Basic KEY:x or as Bearer KEY')
  const bytes = Buffer.from(value, 'base64')
  // Node's decoder ignores invalid characters, so the value is valid base64 only if it encodes back
  // to itself.
  if (bytes.toString('base64').replace(/(?<!=)=+$/, '') !== value.replace(/(?<!=)=+$/, '')) throw malformed('the value is not base64')
  const [key = '', password, ...otherParts] = bytes.toString('latin1').split(':')
  if (password !== 'x' || otherParts.length > 0) throw malformed('the key is the user name, and the password is x')
  return key
}

function malformed(reason: string): DomainError {
  return domainError('unauthenticated', 'KEY_MALFORMED', `the key is malformed: ${reason}`)
}
