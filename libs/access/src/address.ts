import { isIP, isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** An address in one spelling: IPv4 in four decimal parts, IPv6 in its short form, IPv4-mapped IPv6 as IPv4. Undefined for anything else. */
export function normaliseAddress(text: string): string | undefined {
  // There is one ordinary spelling of an IPv4 address.
  return isIPv4(text) ? text : parseAddress(text)?.toString()
}

/** Only the ordinary spellings: no octal, hexadecimal or short IPv4, no zone. */
export function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  return isIP(text) === 0 || text.includes('%') ? undefined : ipaddr.process(text)
}
