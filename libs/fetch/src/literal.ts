import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * Parses an IP address in its common notations only. Returns undefined for other notations that Node or a resolver would accept as an
 * address.
 */
export function parseLiteral(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  return isIP(text) === 0 || text.includes('%') ? undefined : ipaddr.parse(text)
}
