import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Literal spelling only: whatever Node or a resolver would take for an address but does not look like one is undefined. */
export function parseLiteral(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  return isIP(text) === 0 || text.includes('%') ? undefined : ipaddr.parse(text)
}
