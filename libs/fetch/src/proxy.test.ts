import { readFileSync, rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { createTestAuthority } from '@vitascope/testing/certificates'
import { forbiddenHosts } from '../test/forbidden-hosts.ts'
import { type LocalOrigin, startOrigin } from '../test/local-origin.ts'
import { type LocalProxy, startProxy } from '../test/local-proxy.ts'
import { download } from './download.ts'
import { guardedGet } from './guarded-get.ts'
import { type SourcePolicyOptions, sourcePolicy } from './policy.ts'
import { checkProxy, parseProxy } from './proxy.ts'

const limits = { maxBytes: 1 << 20, timeoutMs: 10_000 }
const trusted = getCACertificates('default')

const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()))
})

async function origin(listener: Parameters<typeof startOrigin>[0]): Promise<LocalOrigin> {
  const started = await startOrigin(listener)
  stops.push(started.close)
  return started
}

async function proxy(...args: Parameters<typeof startProxy>): Promise<LocalProxy> {
  const started = await startProxy(...args)
  stops.push(started.close)
  return started
}

/** The policy never resolves a name. */
async function get(url: string, options: SourcePolicyOptions) {
  const resolve = async () => {
    throw new Error('a name was resolved')
  }
  const response = await guardedGet(url, { ...limits, policy: sourcePolicy({ resolve, ...options }) })
  return { ...response, text: String(await buffer(response.body)) }
}

test('an http source is requested by its absolute URL, and the proxy resolves its name', async () => {
  const source = await origin((_, response) => response.end('bytes'))
  const { url, requests, headers } = await proxy({ 'videos.example': source.port })
  expect(await get('http://videos.example/v.mp4?a=b#c', { proxy: url })).toMatchObject({ status: 200, text: 'bytes' })
  expect(requests).toEqual(['GET http://videos.example/v.mp4?a=b'])
  expect(headers[0]).toMatchObject({ host: 'videos.example', 'user-agent': 'Vitascope' })
  expect(headers[0]).not.toHaveProperty('proxy-authorization')
  expect(source.requests[0]?.headers.host).toBe('videos.example')
})

test('user and password are sent to the proxy, and not to the source', async () => {
  const source = await origin((_, response) => response.end('bytes'))
  const { url, headers } = await proxy({ 'videos.example': source.port })
  await get('http://videos.example/', { proxy: url.replace('//', '//me:p%40ss@') })
  expect(headers[0]?.['proxy-authorization']).toBe(`Basic ${Buffer.from('me:p@ss').toString('base64')}`)
  expect(source.requests[0]?.headers).not.toHaveProperty('proxy-authorization')
})

test('every redirect uses the proxy, after the same checks', async () => {
  let location = 'http://other.example:8080/b'
  const source = await origin((request, response) =>
    request.url === '/b' ? response.end('there') : response.writeHead(302, { location }).end(),
  )
  const { url, requests } = await proxy({ 'videos.example': source.port, 'other.example': source.port })
  expect(await get('http://videos.example/a', { proxy: url })).toMatchObject({ text: 'there', finalUrl: location })
  expect(requests).toEqual(['GET http://videos.example/a', 'GET http://other.example:8080/b'])
  location = 'http://169.254.169.254/latest/meta-data/'
  await expect(get('http://videos.example/a', { proxy: url })).rejects.toMatchObject({ code: 4004 })
  expect(requests).toHaveLength(3)
})

test.each([...forbiddenHosts, 'db', 'vault.cluster.local', 'metadata.internal'])(
  '%s is rejected before the proxy is used',
  async (host) => {
    const { url, requests } = await proxy({})
    for (const scheme of ['http', 'https'])
      await expect(get(`${scheme}://${host}/`, { proxy: url })).rejects.toMatchObject({ name: 'SourceError', code: 4004 })
    expect(requests).toEqual([])
  },
)

test('an address in an allowed network is requested through the proxy', async () => {
  const source = await origin((_, response) => response.end('bytes'))
  const { url, requests } = await proxy({ '10.1.2.3': source.port })
  expect(await get('http://10.1.2.3/', { proxy: url, allow: ['10.1.0.0/16'] })).toMatchObject({ text: 'bytes' })
  expect(requests).toEqual(['GET http://10.1.2.3/'])
})

test.each([
  ['a proxy without the user', 407, 'requires another user or password', false],
  ['a host that the proxy denies', 403, 'responded with status 403 for videos.example:443', false],
  ['a host that the proxy cannot reach', 502, 'responded with status 502 for videos.example:443', true],
])('%s causes an error, which is tried again only if that can help', async (_, status, message, transient) => {
  const { url, requests } = await proxy({}, { status })
  const error = await get('https://videos.example/', { proxy: url }).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: 4001, status, transient, message: expect.stringContaining(message) })
  expect(requests).toEqual(['CONNECT videos.example:443'])
  if (status === 407) await expect(get('http://videos.example/', { proxy: url })).rejects.toThrow(message)
})

test('an unreachable proxy causes a transient error that does not contain its address', async () => {
  // No program listens on port 1. A port that was free a moment ago could be in use again.
  const url = 'http://127.0.0.1:1'
  for (const scheme of ['http', 'https']) {
    const error = await get(`${scheme}://videos.example/`, { proxy: url }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({
      code: 4001,
      transient: true,
      message: expect.stringMatching(/^the proxy for sources could not be reached/),
    })
  }
})

test.each(['http://proxy', 'http://proxy:3128', 'http://proxy:3128/', 'http://me:p%40ss@[2001:db8::1]:3128'])(
  '%s is a valid proxy',
  (url) => {
    expect(checkProxy(url)).toBeUndefined()
  },
)

test.each(['proxy:3128', 'https://proxy:3128', 'socks5://proxy:1080', 'http://proxy:3128/path', 'http://proxy:3128/?a'])(
  '%s is not a valid proxy',
  (url) => {
    expect(checkProxy(url)).toMatch(/^must be a URL such as/)
    expect(() => parseProxy(url)).toThrow('the URL of the proxy must be a URL')
  },
)

test('the parts of a proxy have their defaults', () => {
  expect(parseProxy('http://[2001:db8::1]')).toEqual({ host: '2001:db8::1', port: 80, authorization: undefined })
})

let server: ReturnType<typeof createSecureServer>
let securePort = 0
/** The unfinished response to `/broken`. */
let broken: ServerResponse | undefined
beforeAll(async () => {
  const authority = await createTestAuthority()
  const files = await authority.issue(['videos.example'])
  setDefaultCACertificates([...trusted, authority.certificate])
  server = createSecureServer({ cert: files['tls.crt'], key: files['tls.key'] }, (request, response) => {
    const start = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0)
    response.writeHead(start === 0 ? 200 : 206, {
      etag: '"1"',
      'content-length': 10 - start,
      ...(start > 0 && { 'content-range': `bytes ${start}-9/10` }),
    })
    if (start > 0 || request.url !== '/broken') return response.end('0123456789'.slice(start))
    response.write('01234')
    broken = response
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  securePort = (server.address() as AddressInfo).port
})
afterAll(async () => {
  setDefaultCACertificates(trusted)
  server?.closeAllConnections()
  await new Promise((resolve) => server?.close(resolve))
})

test('an https source is reached by CONNECT, and only the source sees the request', async () => {
  const { url, requests, headers } = await proxy({ 'videos.example': securePort })
  expect(await get('https://videos.example/v.mp4?secret', { proxy: url.replace('//', '//me:secret@') })).toMatchObject({
    text: '0123456789',
  })
  expect(requests).toEqual(['CONNECT videos.example:443'])
  expect(headers[0]).toMatchObject({ host: 'videos.example:443', 'proxy-authorization': expect.stringMatching(/^Basic /) })
})

test('a source behind the proxy must have a valid certificate for its name', async () => {
  const { url } = await proxy({ 'other.example': securePort })
  await expect(get('https://other.example/', { proxy: url })).rejects.toThrow('the certificate of other.example is not valid')
})

test('a broken download is resumed through the proxy', async () => {
  const { url, requests } = await proxy({ 'videos.example': securePort })
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-proxy-'))
  stops.push(async () => rmSync(folder, { recursive: true }))
  const file = join(folder, 'source')
  const policy = sourcePolicy({ proxy: url })
  const done = await download('https://videos.example/broken', file, {
    policy,
    limits: { ...limits, minBytesPerSecond: 1, backoffMs: 1 },
    // A connection that breaks before its bytes are read loses them.
    onProgress: ({ bytes }) => void (bytes === 5 && broken?.destroy()),
  })
  expect([done.bytes, readFileSync(file, 'utf8')]).toEqual([10, '0123456789'])
  expect(requests).toEqual(['CONNECT videos.example:443', 'CONNECT videos.example:443'])
})

test('an aborted request closes its tunnel', async () => {
  const { url } = await proxy({ 'videos.example': securePort })
  const abort = new AbortController()
  const { body } = await guardedGet('https://videos.example/', { ...limits, policy: sourcePolicy({ proxy: url }), signal: abort.signal })
  abort.abort(new Error('enough'))
  await expect(buffer(body)).rejects.toThrow('enough')
})
