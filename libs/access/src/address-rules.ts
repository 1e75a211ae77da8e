import type { FieldError } from '@vitascope/errors'
import ipaddr from 'ipaddr.js'
import { parseAddress } from './address.ts'

/** One address or network, `203.0.113.7/32` or `2001:db8::/48`, with the bits past the network cleared. */
export interface AddressRule {
  text: string
  network: ipaddr.IPv4 | ipaddr.IPv6
  bits: number
}

/** Who may have the bytes; without any rule everyone may. */
export type AddressRules = readonly AddressRule[]

/** Reads addresses and CIDRs, IPv4 and IPv6; every bad one is named as `<field>[<index>]`. */
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

/** True when there is no rule, or one of them holds the address. A text that is no address is held by none. */
export function addressAllowed(address: string, rules: AddressRules): boolean {
  if (rules.length === 0) return true
  const parsed = parseAddress(address)
  return parsed !== undefined && rules.some((rule) => rule.network.kind() === parsed.kind() && parsed.match(rule.network, rule.bits))
}

function parseRule(text: string): AddressRule | undefined {
  const match = /^([^/]+)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text)
  const written = match?.[1] ?? ''
  const address = parseAddress(written)
  if (!address) return undefined
  const whole = address.kind() === 'ipv4' ? 32 : 128
  // The first 96 bits of an IPv4-mapped network are the mapping itself.
  const mapping = address.kind() === 'ipv4' && written.includes(':') ? 96 : 0
  const bits = match?.[2] === undefined ? whole : Number(match[2]) - mapping
  if (bits < 0 || bits > whole) return undefined
  const network = networkOf(address, bits)
  return { text: `${network.toString()}/${bits}`, network, bits }
}

function networkOf(address: ipaddr.IPv4 | ipaddr.IPv6, bits: number): ipaddr.IPv4 | ipaddr.IPv6 {
  const cidr = `${address.toString()}/${bits}`
  return address.kind() === 'ipv4' ? ipaddr.IPv4.networkAddressFromCIDR(cidr) : ipaddr.IPv6.networkAddressFromCIDR(cidr)
}
