import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { parseProxy, type SourceProxy } from './proxy.ts'
import { type Resolve, resolveName } from './resolve-name.ts'

/** Policy of requests to URLs of callers: the allowed addresses, the name resolution, and the proxy. */
export interface SourcePolicy {
  /** Non-public networks that may be called. */
  allow: readonly Network[]
  /** Not used with a proxy, which resolves names itself. */
  resolve: Resolve
  proxy?: SourceProxy
}

export type Network = readonly [ipaddr.IPv4 | ipaddr.IPv6, number]

export interface SourcePolicyOptions {
  /** CIDR ranges of `VITASCOPE_SOURCE_ALLOW`. */
  allow?: readonly string[]
  /** `resolveName` by default. */
  resolve?: Resolve
  /** URL of `VITASCOPE_SOURCE_PROXY`. Without it, requests go to the sources directly. */
  proxy?: string | undefined
}

/** Creates a policy. Throws for an invalid CIDR range or proxy. */
export function sourcePolicy({ allow = [], resolve = resolveName, proxy }: SourcePolicyOptions = {}): SourcePolicy {
  return { allow: allow.map(parseNetwork), resolve, ...(proxy !== undefined && { proxy: parseProxy(proxy) }) }
}

/**
 * Returns the problem of a CIDR range or address of the allow list, or undefined if it is valid.
 */
export function checkNetwork(text: string): string | undefined {
  const [address = '', bits, ...extraParts] = text.split('/')
  const family = isIP(address)
  const max = family === 4 ? 32 : 128
  const isValid =
    family !== 0 &&
    !address.includes('%') &&
    extraParts.length === 0 &&
    (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= max))
  return isValid ? undefined : 'must be a network such as 192.0.2.0/24 or fd00::/8'
}

function parseNetwork(text: string): Network {
  const problem = checkNetwork(text)
  if (problem) throw new Error(`${text}: ${problem}`)
  const [address = '', bits] = text.split('/')
  const parsed = ipaddr.parse(address)
  return [parsed, bits === undefined ? (parsed.kind() === 'ipv4' ? 32 : 128) : Number(bits)]
}
