import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { type Resolve, resolveName } from './resolve-name.ts'

/** Which addresses may be called, and how names become addresses. */
export interface SourcePolicy {
  /** Networks that may be called although they are not public. */
  allow: readonly Network[]
  resolve: Resolve
}

export type Network = readonly [ipaddr.IPv4 | ipaddr.IPv6, number]

/** A policy from the CIDRs of `VITASCOPE_SOURCE_ALLOW`; throws for one that is none. Names are looked up by `resolveName` unless told otherwise. */
export function sourcePolicy({ allow = [], resolve = resolveName }: { allow?: readonly string[]; resolve?: Resolve } = {}): SourcePolicy {
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

function parseNetwork(text: string): Network {
  const problem = checkNetwork(text)
  if (problem) throw new Error(`${text}: ${problem}`)
  const [address = '', bits] = text.split('/')
  const parsed = ipaddr.parse(address)
  return [parsed, bits === undefined ? (parsed.kind() === 'ipv4' ? 32 : 128) : Number(bits)]
}
