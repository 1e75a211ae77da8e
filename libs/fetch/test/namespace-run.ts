import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { connect, createServer as createTcpServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { download, guardedGet, isSourceError, sourcePolicy } from '@vitascope/fetch'
import { type DnsAnswer, startDnsStub } from './dns-stub.ts'
import { forbiddenHosts } from './forbidden-hosts.ts'

// This program runs in its own network namespace, whose loopback interface has a public address and
// private ones. It prints as JSON how the guarded client behaves there with production settings: no
// allow list, and the name servers of resolv.conf. The argument is a scratch folder.
const scratch = process.argv[2] ?? ''
const publicAddress = '93.184.216.34'
const canaryAddresses = ['169.254.169.254', '10.1.2.3', 'fd00::1', '127.0.0.1', '::1']
const ports = [80, 8080]
const limits = { maxBytes: 1 << 20, timeoutMs: 20_000 }
const policy = sourcePolicy()

let hits = 0
const canaries = await Promise.all(canaryAddresses.flatMap((address) => ports.map((port) => startCanary(address, port))))
const origins = await Promise.all(ports.map(startOrigin))
const secure = await startSecureOrigin()
const dns = await startDnsStub(createAnswers())

for (const address of canaryAddresses) for (const port of ports) await connectTo(address, port)
const canaryHits = hits
hits = 0

const report = {
  canaryHits,
  publicByAddress: await outcome(`http://${publicAddress}/ok`),
  publicByName: await outcome('http://public.test:8080/ok'),
  secure: secure && [
    await outcome('https://public.test/ok'),
    await outcome('https://foreign.test/ok'),
    await outcome(`https://${publicAddress}/ok`),
  ],
  spellings: tally(await Promise.all(forbiddenHosts.flatMap((host) => [outcome(`http://${host}/`), outcome(`http://${host}:8080/`)]))),
  names: await outcomes(['mixed.test', 'alias.test', 'ipv6.test', 'private.test'].map((name) => `http://${name}/`)),
  redirects: tally(
    await outcomes(redirectTargets().map(([status, to]) => `http://${publicAddress}/to?status=${status}&url=${encodeURIComponent(to)}`)),
  ),
  flips: tally(await outcomes(Array.from({ length: 200 }, () => 'http://flip.test/ok'))),
  resume: await resumeAfterFlip(),
  unansweredLookups: await testUnansweredLookups(),
  hits,
}
console.log(JSON.stringify(report))
for (const server of [...canaries, ...origins, ...(secure ? [secure] : [])]) server.close()
dns.stop()

function createAnswers(): (name: string, type: 'A' | 'AAAA') => DnsAnswer | 'silence' | undefined {
  let flips = 0
  let later = 0
  const privateIpv6 = Buffer.from('fd000000000000000000000000000001', 'hex')
  return (name, type) => {
    if (name === 'public.test' || name === 'foreign.test') return { a: [publicAddress] }
    if (name === 'private.test') return { a: ['10.1.2.3'] }
    if (name === 'mixed.test') return { a: [publicAddress, '169.254.169.254'] }
    if (name === 'alias.test') return { cname: 'inside.test', a: ['10.1.2.3'] }
    if (name === 'ipv6.test') return { a: [publicAddress], aaaa: [privateIpv6] }
    if (name === 'flip.test') return type === 'AAAA' ? {} : { a: [flips++ % 2 === 0 ? publicAddress : '10.1.2.3'] }
    if (name === 'later.test') return type === 'AAAA' ? {} : { a: [later++ === 0 ? publicAddress : '169.254.169.254'] }
    return name.endsWith('.dead.test') ? 'silence' : undefined
  }
}

function redirectTargets(): (readonly [number, string])[] {
  const targets = [
    ...canaryAddresses.map((address) => (address.includes(':') ? `[${address}]` : address)),
    'private.test',
    'mixed.test',
    '2852039166',
    'localhost.',
  ]
  return [301, 302, 303, 307, 308].flatMap((status) =>
    targets.flatMap((target) => ports.map((port) => [status, `http://${target}:${port}/`] as const)),
  )
}

async function resumeAfterFlip(): Promise<string> {
  const fetching = download('http://later.test/cut', join(scratch, 'source'), { policy, limits: { ...limits, backoffMs: 1 } })
  return fetching.then(() => 'fetched', formatCode)
}

/**
 * Returns the results of look-ups without a response, and of another look-up and a file access at
 * the same time.
 */
async function testUnansweredLookups() {
  // More queries would not fit in the receive buffer of the stub.
  let waiting = 50
  const dead = Array.from({ length: waiting }, (_, n) =>
    guardedGet(`http://n${n}.dead.test/`, { ...limits, timeoutMs: 5_000, policy }).then(String, (error: unknown) => {
      waiting--
      return formatCode(error)
    }),
  )
  const alive = await outcome('http://public.test/ok')
  await readFile(import.meta.filename)
  return { alive, stillWaiting: waiting, dead: tally(await Promise.all(dead)) }
}

async function outcomes(urls: readonly string[]): Promise<string[]> {
  const results: string[] = []
  for (const url of urls) results.push(await outcome(url))
  return results
}

async function outcome(url: string): Promise<string> {
  return guardedGet(url, { ...limits, policy }).then(({ body }) => text(body), formatCode)
}

function formatCode(error: unknown): string {
  return isSourceError(error) ? `${error.code}` : String(error)
}

function tally(results: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const one of results) counts[one] = (counts[one] ?? 0) + 1
  return counts
}

async function startCanary(address: string, port: number) {
  const server = createTcpServer((socket) => {
    hits++
    socket.on('error', () => {})
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\ncaught')
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, address, resolve))
  return server
}

/** Connects to a canary and waits for the end of the connection. The canary must count it. */
function connectTo(address: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    connect(port, address).once('error', reject).once('close', resolve).resume()
  })
}

async function startOrigin(port: number) {
  const server = createServer(serve)
  await new Promise<void>((resolve) => server.listen(port, publicAddress, resolve))
  return server
}

async function startSecureOrigin() {
  if (!process.env['NODE_EXTRA_CA_CERTS']) return undefined
  const server = createSecureServer({ key: readFileSync(join(scratch, 'key.pem')), cert: readFileSync(join(scratch, 'cert.pem')) }, serve)
  await new Promise<void>((resolve) => server.listen(443, publicAddress, resolve))
  return server
}

function serve(...[request, response]: Parameters<RequestListener>): void {
  const url = new URL(request.url ?? '/', 'http://origin')
  if (url.pathname === '/to') {
    response.writeHead(Number(url.searchParams.get('status')), { location: url.searchParams.get('url') ?? '' }).end()
  } else if (url.pathname === '/cut') {
    response.writeHead(200, { 'content-length': '1000000', etag: '"v1"' })
    response.write(Buffer.alloc(600_000), () => response.destroy())
  } else response.end('public')
}
