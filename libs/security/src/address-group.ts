/**
 * Returns the networks that limits count an address by, the narrower one first. An IPv4 address counts by itself. An
 * IPv6 address counts by its /64, the smallest network that a customer has, and by its /48, the largest one that is
 * assigned by default.
 */
export function addressGroups(address: string): [group: string, network?: string] {
  if (!address.includes(':')) return [address]
  const groups = expand(address)
  return [`${groups.slice(0, 4).join(':')}::/64`, `${groups.slice(0, 3).join(':')}::/48`]
}

/** Returns the widest of these networks, which one customer can control. */
export function toWidestNetwork(address: string): string {
  return address.includes(':') ? `${expand(address).slice(0, 3).join(':')}::/48` : address
}

/** Returns the eight groups of an IPv6 address in normalised form. */
function expand(address: string): string[] {
  const [head = [], tail = []] = address.split('::', 2).map((half) => half.split(':').filter((group) => group !== ''))
  const zeros = Array<string>(Math.max(0, 8 - head.length - tail.length)).fill('0')
  return [...head, ...zeros, ...tail]
}
