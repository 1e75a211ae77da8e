import type { IncomingMessage } from 'node:http'
import { normaliseAddress } from './address.ts'
import { type AddressRules, isAddressAllowed } from './address-rules.ts'

/**
 * Returns the address of the client. This is the peer, unless the peer is a trusted proxy. Then it is
 * the rightmost hop of `X-Forwarded-For` that is not a trusted proxy, or the leftmost hop if all of
 * them are. A hop that is not an address ends the search, which returns the hop to its right or the
 * peer. Without trusted proxies, the header is ignored. Returns an empty text if the connection is
 * already closed.
 */
export function clientAddress(request: IncomingMessage, trusted: AddressRules): string {
  let address = normaliseAddress(request.socket.remoteAddress ?? '') ?? ''
  if (trusted.length === 0) return address
  const header = request.headers['x-forwarded-for'] ?? ''
  const hops = (Array.isArray(header) ? header.join(',') : header).split(',')
  for (const hop of hops.reverse()) {
    const before = normaliseAddress(hop.trim())
    if (before === undefined || !isAddressAllowed(address, trusted)) break
    address = before
  }
  return address
}
