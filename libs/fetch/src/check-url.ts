import { isForbiddenAddress } from './forbidden-address.ts'
import { parseLiteral } from './literal.ts'
import type { SourcePolicy } from './policy.ts'

const longestUrl = 8192

/** Everything that the URL itself shows to be wrong, each as a sentence for the field that held it; empty when nothing is. */
export function checkUrl(text: string, policy: SourcePolicy): readonly string[] {
  if (text.length > longestUrl) return [`must have at most ${longestUrl} characters`]
  // The parser would drop these silently; a URL that has them is not what it looks like.
  if (hasInvisible(text) || !URL.canParse(text)) return ['must be an absolute http or https URL']
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return ['must be an http or https URL']
  const problems: string[] = []
  if (url.username !== '' || url.password !== '') problems.push('must not hold a user name or password')
  if (isForbiddenPort(url.port)) problems.push('must use port 80, 443, or one from 1024 on')
  if (isForbiddenHost(hostOf(url), policy)) problems.push('must not lead to an address that is not public')
  return problems
}

/** The host as a resolver takes it: an IPv6 address without its brackets. */
export function hostOf(url: URL): string {
  return url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname
}

function hasInvisible(text: string): boolean {
  return /[\s\p{Cc}\p{Cf}\\]/u.test(text)
}

function isForbiddenPort(port: string): boolean {
  return port !== '' && Number(port) < 1024 && port !== '80' && port !== '443'
}

/** The parser has turned decimal, octal, hexadecimal, short and fullwidth spellings of IPv4 into the ordinary one by now. */
function isForbiddenHost(host: string, policy: SourcePolicy): boolean {
  if (parseLiteral(host)) return isForbiddenAddress(host, policy)
  const name = host.toLowerCase().replace(/(?<!\.)\.+$/, '')
  const isLocal = name === '' || name === 'localhost' || name.endsWith('.localhost')
  return isLocal && isForbiddenAddress('127.0.0.1', policy) && isForbiddenAddress('::1', policy)
}
