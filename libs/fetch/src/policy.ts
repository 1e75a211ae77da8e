import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** All addresses of a name, as text. */
export type Resolve = (host: string) => Promise<readonly string[]>

/** Which addresses may be called, and how names become addresses. */
export interface SourcePolicy {
  /** Networks that may be called although they are not public. */
  allow: readonly Network[]
  resolve: Resolve
}

export type Network = readonly [ipaddr.IPv4 | ipaddr.IPv6, number]

/** A policy from the CIDRs of `VITASCOPE_SOURCE_ALLOW`; throws for one that is none. Names are looked up by the system unless told otherwise. */
export function sourcePolicy({
  allow = [],
  resolve = resolveBySystem,
}: {
  allow?: readonly string[]
  resolve?: Resolve
} = {}): SourcePolicy {
  return { allow: allow.map(parseNetwork), resolve }
}

/** What is wrong with a CIDR (or a single address) of the allow list; undefined when nothing is. */
export function checkNetwork(text: string): string | undefined {
  const [address = '', bits, ...rest] = text.split('/')
  const family = isIP(address)
  const most = family === 4 ? 32 : 128
  const fine =
    family !== 0 && !address.includes('%') && rest.length === 0 && (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most))
  return fine ? undefined : 'must be a network such as 192.0.2.0/24 or fd00::/8'
}

/** Literal spelling only: whatever Node or a resolver would take for an address but does not look like one is undefined. */
export function parseLiteral(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  return isIP(text) === 0 || text.includes('%') ? undefined : ipaddr.parse(text)
}

function parseNetwork(text: string): Network {
  const problem = checkNetwork(text)
  if (problem) throw new Error(`${text}: ${problem}`)
  const [address = '', bits] = text.split('/')
  const parsed = ipaddr.parse(address)
  return [parsed, bits === undefined ? (parsed.kind() === 'ipv4' ? 32 : 128) : Number(bits)]
}

async function resolveBySystem(host: string): Promise<readonly string[]> {
  const answers = await lookup(host, { all: true, order: 'verbatim' })
  return answers.map((answer) => answer.address)
}
