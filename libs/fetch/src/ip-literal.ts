import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * Parses an IP address in the notations that `net.isIP` accepts, without a zone. Returns undefined
 * for names, and for other notations that a resolver would accept as an address (`127.1`,
 * `0x7f000001`).
 */
export function parseIpLiteral(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  return isIP(text) === 0 || text.includes('%') ? undefined : ipaddr.parse(text)
}
