import type { FieldError } from '@vitascope/errors'
import ipaddr from 'ipaddr.js'
import { type ParsedAddress, parseAddress } from './address.ts'

/** One address or network, such as `203.0.113.7/32` or `2001:db8::/48`. The host bits are cleared. */
export interface AddressRule {
  text: string
  network: ipaddr.IPv4 | ipaddr.IPv6
  bits: number
}

/** A list of addresses and networks, such as those that may load files, or those of trusted proxies. */
export type AddressRules = readonly AddressRule[]

/** Parses IPv4 and IPv6 addresses and CIDR ranges. Returns an error named `<field>[<index>]` for each invalid one. */
export function parseAddressRules(
  texts: readonly string[],
  field = 'allowed_ips',
): { rules: AddressRules; errors?: never } | { errors: readonly FieldError[]; rules?: never } {
  const errors: FieldError[] = []
  const rules: AddressRule[] = []
  for (const [index, text] of texts.entries()) {
    const rule = parseRule(text.trim())
    if (rule) rules.push(rule)
    else errors.push({ field: `${field}[${index}]`, message: 'must be an IPv4 or IPv6 address, or a network such as 192.0.2.0/24' })
  }
  return errors.length > 0 ? { errors } : { rules }
}

/**
 * Returns whether there are no rules or one of them contains the address. A text that is not an address matches no
 * rule.
 */
export function isAddressAllowed(address: string, rules: AddressRules): boolean {
  return rules.length === 0 || matchesAddress(parseAddress(address), rules)
}

/** Returns whether one of the rules contains the parsed address. */
export function matchesAddress(address: ParsedAddress | undefined, rules: AddressRules): boolean {
  return address !== undefined && rules.some(({ network, bits }) => network.kind() === address.kind() && address.match(network, bits))
}

function parseRule(text: string): AddressRule | undefined {
  const match = /^([^/]+)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text)
  const addressText = match?.[1] ?? ''
  const address = parseAddress(addressText)
  if (!address) return undefined
  const fullLength = address.kind() === 'ipv4' ? 32 : 128
  // The first 96 bits of an IPv4-mapped network are the mapping prefix.
  const mapping = address.kind() === 'ipv4' && addressText.includes(':') ? 96 : 0
  const bits = match?.[2] === undefined ? fullLength : Number(match[2]) - mapping
  if (bits < 0 || bits > fullLength) return undefined
  const network = toNetwork(address, bits)
  return { text: `${network.toString()}/${bits}`, network, bits }
}

function toNetwork(address: ipaddr.IPv4 | ipaddr.IPv6, bits: number): ipaddr.IPv4 | ipaddr.IPv6 {
  const cidr = `${address.toString()}/${bits}`
  return address.kind() === 'ipv4' ? ipaddr.IPv4.networkAddressFromCIDR(cidr) : ipaddr.IPv6.networkAddressFromCIDR(cidr)
}
