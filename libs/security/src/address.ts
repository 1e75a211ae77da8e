import { isIP, isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'

export type ParsedAddress = ipaddr.IPv4 | ipaddr.IPv6

/**
 * Returns an address in normalised form: IPv4 as four decimal parts, IPv6 in its short form, IPv4-mapped IPv6 as
 * IPv4. Returns undefined if the text is not an address.
 */
export function normaliseAddress(text: string): string | undefined {
  // An IPv4 address that `isIPv4` accepts is already in normalised form.
  return isIPv4(text) ? text : parseAddress(text)?.toString()
}

/** Parses common notations only: no octal, hexadecimal or short IPv4, no zone. Returns undefined for other texts. */
export function parseAddress(text: string): ParsedAddress | undefined {
  return isIP(text) === 0 || text.includes('%') ? undefined : ipaddr.process(text)
}
