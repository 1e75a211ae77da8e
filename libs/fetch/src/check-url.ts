import { isForbiddenAddress } from './forbidden-address.ts'
import { parseIpLiteral } from './ip-literal.ts'
import type { SourcePolicy } from './policy.ts'

const MAX_URL_LENGTH = 8192
/** Description of the allowed addresses for error messages. */
export const ALLOWED_ADDRESS = 'a public address, or one in a network that the operator lists in VITASCOPE_SOURCE_ALLOW'

/**
 * Returns the problems that are visible in the URL itself, each as the end of a sentence whose
 * subject is the URL ("must …"). The list is empty if the URL is valid. No name is resolved.
 */
export function checkUrl(text: string, policy: SourcePolicy): readonly string[] {
  if (text.length > MAX_URL_LENGTH) return [`must have at most ${MAX_URL_LENGTH} characters`]
  // The URL parser would silently remove or replace these characters, so the text would differ from
  // the parsed URL.
  if (hasNormalisedCharacter(text) || !URL.canParse(text)) return ['must be an absolute http or https URL']
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return ['must be an http or https URL']
  const problems: string[] = []
  if (url.username !== '' || url.password !== '') problems.push('must not contain a user name or password')
  if (isForbiddenPort(url.port)) problems.push('must use port 80, 443, or one from 1024 on')
  if (isForbiddenHost(getHost(url), policy)) problems.push(`must have ${ALLOWED_ADDRESS}`)
  return problems
}

/** Returns the host as a resolver expects it: an IPv6 address without brackets. */
export function getHost(url: URL): string {
  return url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname
}

function hasNormalisedCharacter(text: string): boolean {
  return /[\s\p{Cc}\p{Cf}\\]/u.test(text)
}

function isForbiddenPort(port: string): boolean {
  return port !== '' && Number(port) < 1024 && port !== '80' && port !== '443'
}

/**
 * Returns whether an address or a name of the local machine is forbidden. Other names are checked
 * when they are resolved. The URL parser has already converted decimal, octal, hexadecimal, short
 * and fullwidth notations of IPv4 to the common one.
 */
function isForbiddenHost(host: string, policy: SourcePolicy): boolean {
  if (parseIpLiteral(host)) return isForbiddenAddress(host, policy)
  const name = host.toLowerCase().replace(/(?<!\.)\.+$/, '')
  const isLocal = name === '' || name === 'localhost' || name.endsWith('.localhost')
  return isLocal && isForbiddenAddress('127.0.0.1', policy) && isForbiddenAddress('::1', policy)
}
