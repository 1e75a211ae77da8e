/**
 * Top-level domains that are reserved for or widely used in private networks (RFC 6762 appendix G,
 * ICANN's `internal`, Kubernetes' `svc`).
 */
const PRIVATE_DOMAINS = new Set(['corp', 'home', 'internal', 'intranet', 'lan', 'local', 'localdomain', 'localhost', 'private', 'svc'])

/**
 * Returns whether only the local network can resolve a host name: a single label, or a name below a
 * private domain.
 */
export function isInternalName(host: string): boolean {
  let end = host.length
  while (host[end - 1] === '.') end--
  const name = host.slice(0, end).toLowerCase()
  const labels = name.split('.')
  return labels.length === 1 || PRIVATE_DOMAINS.has(labels.at(-1) ?? '') || name === 'home.arpa' || name.endsWith('.home.arpa')
}
