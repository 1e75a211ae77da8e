import { lookup, Resolver } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { parseIpLiteral } from './ip-literal.ts'

/**
 * Returns all addresses of a name as text. Throws if there are none. Not every look-up ends when
 * the signal aborts, so callers must not rely on it.
 */
export type Resolve = (host: string, signal: AbortSignal) => Promise<readonly string[]>

/** Timeout of one attempt of a query to one name server. */
const QUERY_TIMEOUT_MS = 2_000
const MAX_ATTEMPTS = 3
const HOSTS_FILE = '/etc/hosts'

/**
 * Resolves a name by the hosts file, else by DNS. Only single-label names, which the system
 * completes with its search domains, use the system's resolver (getaddrinfo). That resolver
 * occupies one of libuv's few threads until it ends and cannot be cancelled, so names with an
 * unresponsive name server would block all other look-ups.
 */
export async function resolveName(host: string, signal: AbortSignal, hostsFile = HOSTS_FILE): Promise<readonly string[]> {
  const name = host.replace(/\.$/, '').toLowerCase()
  const fromHostsFile = addressesInHosts(await readFile(hostsFile, 'utf8').catch(() => ''), name)
  if (fromHostsFile.length > 0) return fromHostsFile
  if (!name.includes('.')) return (await lookup(name, { all: true, order: 'verbatim' })).map(({ address }) => address)
  return queryNameServers(name, signal)
}

/**
 * Queries the name servers. There is no limit on concurrent queries, since they occupy no thread.
 */
async function queryNameServers(name: string, signal: AbortSignal): Promise<readonly string[]> {
  // A new resolver uses the current name servers, and `cancel` affects only its own queries.
  const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: MAX_ATTEMPTS })
  const cancel = () => resolver.cancel()
  signal.addEventListener('abort', cancel, { once: true })
  try {
    const responses = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    signal.throwIfAborted()
    const addresses = responses.flatMap((response) => (response.status === 'fulfilled' ? response.value : []))
    if (addresses.length > 0) return addresses
    const reasons = responses.flatMap((response) => (response.status === 'rejected' ? [response.reason] : []))
    throw reasons.find(({ code }) => code !== 'ENOTFOUND' && code !== 'ENODATA') ?? reasons[0]
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

/** Returns the addresses of a name in a file in the format of hosts(5). */
function addressesInHosts(hosts: string, name: string): string[] {
  return hosts.split('\n').flatMap((line) => {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/)
    return parseIpLiteral(address) && names.includes(name) ? [address] : []
  })
}
