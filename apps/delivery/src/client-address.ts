import type { IncomingMessage } from 'node:http'
import { type AddressRules, addressAllowed, normaliseAddress } from '@vitascope/access'

/** Who asks: the last hop of `X-Forwarded-For` that no trusted proxy of ours wrote about itself, else the peer. */
export function clientAddress(request: IncomingMessage, trusted: AddressRules): string {
  const peer = normaliseAddress(request.socket.remoteAddress ?? '') ?? ''
  const header = request.headers['x-forwarded-for']
  const hops = (Array.isArray(header) ? header.join(',') : (header ?? '')).split(',').map((hop) => hop.trim())
  let address = peer
  for (const hop of hops.reverse()) {
    if (hop === '' || !addressAllowed(address, trusted)) break
    address = normaliseAddress(hop) ?? ''
  }
  return address
}
