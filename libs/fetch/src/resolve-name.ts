import { lookup, Resolver } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { parseLiteral } from './literal.ts'

/** All addresses of a name, as text. Gives up when the signal aborts. */
export type Resolve = (host: string, signal: AbortSignal) => Promise<readonly string[]>

/** Of one question to one name server; three rounds of them are asked. */
const QUESTION_MS = 2_000
const HOSTS_FILE = '/etc/hosts'

/**
 * Names as the hosts file has them, else as name servers answer. The system's own look-up (getaddrinfo) is asked for names of one label
 * only, which the network of this machine completes: it holds one of libuv's few threads until it ends and cannot be cancelled, so that
 * names of somebody whose name server never answers would stop the look-ups of all.
 */
export async function resolveName(host: string, signal: AbortSignal, hostsFile = HOSTS_FILE): Promise<readonly string[]> {
  const name = host.replace(/\.$/, '').toLowerCase()
  const listed = listedAddresses(await readFile(hostsFile, 'utf8').catch(() => ''), name)
  if (listed.length > 0) return listed
  if (!name.includes('.')) return (await lookup(name, { all: true, order: 'verbatim' })).map(({ address }) => address)
  return askNameServers(name, signal)
}

/** As many questions at once as there are callers; none of them holds a thread. */
async function askNameServers(name: string, signal: AbortSignal): Promise<readonly string[]> {
  // Made anew, so that it knows the name servers of the moment, and ends no question but its own.
  const resolver = new Resolver({ timeout: QUESTION_MS, tries: 3 })
  const cancel = () => resolver.cancel()
  signal.addEventListener('abort', cancel, { once: true })
  try {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    signal.throwIfAborted()
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    if (addresses.length > 0) return addresses
    const reasons = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []))
    throw reasons.find(({ code }) => code !== 'ENOTFOUND' && code !== 'ENODATA') ?? reasons[0]
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

/** hosts(5): an address, then its names, `#` begins a comment. */
function listedAddresses(hosts: string, name: string): string[] {
  return hosts.split('\n').flatMap((line) => {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/)
    return parseLiteral(address) && names.includes(name) ? [address] : []
  })
}
