import ipaddr from 'ipaddr.js'
import { parseIpLiteral } from './ip-literal.ts'
import type { SourcePolicy } from './policy.ts'

/**
 * Returns whether an address is not public and not allowed by the policy. A text that is not an
 * address is forbidden too. IPv4 is public unless listed. IPv6 is public only within 2000::/3,
 * except some networks that are tunnels or have a special use; mapped, compatible, NAT64 and local
 * addresses are outside of it.
 */
export function isForbiddenAddress(text: string, policy: SourcePolicy): boolean {
  const address = parseIpLiteral(text)
  if (!address) return true
  if (policy.allow.some(([network, bits]) => isWithin(address, network, bits))) return false
  const forbidden = address.kind() === 'ipv4' ? forbiddenIPv4 : forbiddenIPv6
  const isPublic = address.kind() === 'ipv4' || isWithin(address, globalUnicast, 3)
  return !isPublic || forbidden.some(([network, bits]) => isWithin(address, network, bits))
}

const globalUnicast = ipaddr.parse('2000::')

const forbiddenIPv4 = networks([
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // the metadata service of a large cloud, although its address is in a public range
  '169.254.0.0/16', // link-local, metadata services
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // automatic multicast tunneling
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarking
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
])

const forbiddenIPv6 = networks([
  '2001::/23', // protocol assignments, including Teredo
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4: contains any IPv4 address
  '2620:4f:8000::/48', // AS112
  '3fff::/20', // documentation
])

function networks(texts: readonly string[]): readonly (readonly [ipaddr.IPv4 | ipaddr.IPv6, number])[] {
  return texts.map((text) => ipaddr.parseCIDR(text))
}

function isWithin(address: ipaddr.IPv4 | ipaddr.IPv6, network: ipaddr.IPv4 | ipaddr.IPv6, bits: number): boolean {
  return address.kind() === network.kind() && address.match(network, bits)
}
