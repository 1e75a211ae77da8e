// Faults: S2, S3, S6
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { createServer as createTlsServer } from 'node:tls'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from '@jest/globals'
import { forbiddenHosts } from '../test/forbidden-hosts.ts'
import { type LocalOrigin, startOrigin } from '../test/local-origin.ts'
import { guardedGet } from './guarded-get.ts'
import { type SourcePolicy, sourcePolicy } from './policy.ts'

const local = sourcePolicy({ allow: ['127.0.0.1/32'] })
const limits = { maxBytes: 1 << 20, timeoutMs: 10_000 }

const origins: LocalOrigin[] = []
afterEach(async () => {
  await Promise.all(origins.splice(0).map((origin) => origin.close()))
})

async function origin(listener: Parameters<typeof startOrigin>[0]): Promise<LocalOrigin> {
  const started = await startOrigin(listener)
  origins.push(started)
  return started
}

async function get(url: string, policy: SourcePolicy = local) {
  const response = await guardedGet(url, { ...limits, policy })
  return { ...response, text: String(await buffer(response.body)) }
}

test('returns status, headers and body, and sends no headers of the platform', async () => {
  const { url, requests } = await origin((_, response) => response.setHeader('content-type', 'video/mp4').end('bytes'))
  expect(await get(url('/v.mp4?a=b'))).toMatchObject({
    status: 200,
    text: 'bytes',
    finalUrl: url('/v.mp4?a=b'),
    headers: { 'content-type': 'video/mp4' },
  })
  expect(requests[0]?.url).toBe('/v.mp4?a=b')
  expect(Object.keys(requests[0]?.headers ?? {}).sort()).toEqual(['accept', 'accept-encoding', 'connection', 'host', 'user-agent'])
})

describe('addresses', () => {
  test.each(forbiddenHosts)('never connects to %s and never resolves it', async (host) => {
    const canary = await origin((_, response) => response.end('caught'))
    const requested: string[] = []
    const resolve = async (name: string) => {
      requested.push(name)
      return ['127.0.0.1']
    }
    await expect(get(`http://${host}:${canary.port}/`, sourcePolicy({ resolve }))).rejects.toMatchObject({
      name: 'SourceError',
      code: 4004,
    })
    expect(requested).toEqual([])
    expect(canary.connections()).toBe(0)
  })

  test('the canary records the connections that are allowed', async () => {
    const canary = await origin((_, response) => response.end('caught'))
    await get(`http://2130706433:${canary.port}/`)
    expect(canary.connections()).toBe(1)
  })

  test.each([
    'db',
    'redis.',
    'postgres.default.svc',
    'vault.cluster.local',
    'nas.lan',
    'wiki.corp',
    'metadata.internal',
    'router.home.arpa',
  ])('the error for %s does not reveal whether the name exists in a private network', async (host) => {
    const describeError = async (resolve: () => Promise<readonly string[]>) => {
      const { code, message, transient } = await get(`http://${host}/`, sourcePolicy({ resolve })).catch((error) => error)
      return { code, message, transient }
    }
    const failing = (code: string) => async () => {
      throw Object.assign(new Error(`queryA ${code}`), { code })
    }
    const errors = [
      await describeError(async () => ['10.1.2.3']),
      await describeError(async () => []),
      await describeError(failing('ENOTFOUND')),
      await describeError(failing('ENODATA')),
      await describeError(failing('EAI_AGAIN')),
      await describeError(failing('ESERVFAIL')),
    ]
    expect(errors).toEqual(Array(6).fill(errors[0]))
    expect(errors[0]).toMatchObject({ code: 4004, message: expect.stringContaining('VITASCOPE_SOURCE_ALLOW') })
  })

  test('an internal name in an allowed network is called, and a failed look-up of it can be retried', async () => {
    const canary = await origin((_, response) => response.end('caught'))
    const resolve = async () => ['127.0.0.1']
    expect(await get(`http://storage:${canary.port}/`, sourcePolicy({ resolve, allow: ['127.0.0.1/32'] }))).toMatchObject({
      text: 'caught',
    })
    const failLookup = async () => {
      throw Object.assign(new Error('getaddrinfo EAI_AGAIN'), { code: 'EAI_AGAIN' })
    }
    const policy = sourcePolicy({ resolve: failLookup, allow: ['10.0.0.0/8'] })
    await expect(get('http://storage/', policy)).rejects.toMatchObject({ code: 4001, transient: true })
  })

  test('a public name that does not exist is reported', async () => {
    const resolve = async () => {
      throw Object.assign(new Error('queryA ENOTFOUND'), { code: 'ENOTFOUND' })
    }
    await expect(get('http://missing.example.com/', sourcePolicy({ resolve }))).rejects.toMatchObject({
      code: 4001,
      message: 'there is no host named missing.example.com',
    })
  })

  test.each([
    ['a private address', ['10.1.2.3']],
    ['a public and a private address', ['93.184.216.34', '127.0.0.1']],
    ['a private address and many public ones', ['127.0.0.1', ...Array.from({ length: 9 }, (_, i) => `93.184.216.${i}`)]],
    ['a mapped address', ['::ffff:127.0.0.1']],
    ['an address with a zone', ['fe80::1%lo']],
    ['a text that is not an address', ['127.1']],
    ['an empty text', ['']],
  ])('a name that resolves to %s is rejected', async (_, addresses) => {
    const canary = await origin((_request, response) => response.end('caught'))
    const strict = sourcePolicy({ resolve: async () => addresses })
    await expect(get(`http://example.com:${canary.port}/`, strict)).rejects.toMatchObject({
      code: 4004,
      message: expect.stringContaining('example.com'),
    })
    expect(canary.connections()).toBe(0)
  })

  test('a name without addresses, and a failed look-up, are reported as unreachable', async () => {
    await expect(get('http://example.com/', sourcePolicy({ resolve: async () => [] }))).rejects.toMatchObject({ code: 4001 })
    const failing = async () => Promise.reject(Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' }))
    await expect(get('http://example.com/', sourcePolicy({ resolve: failing }))).rejects.toMatchObject({
      code: 4001,
      transient: false,
      message: 'there is no host named example.com',
    })
  })

  test('a name is resolved once, and the connection uses the address that was checked', async () => {
    const { port, requests } = await origin((_, response) => response.end('bytes'))
    let lookUps = 0
    // The first look-up returns the allowed address and later ones a private address: a second
    // look-up would lead to 10.1.2.3 and fail.
    const policy = sourcePolicy({ allow: ['127.0.0.1'], resolve: async () => (lookUps++ === 0 ? ['127.0.0.1'] : ['10.1.2.3']) })
    expect(await get(`http://source.example:${port}/`, policy)).toMatchObject({ text: 'bytes' })
    expect(lookUps).toBe(1)
    expect(requests[0]?.headers.host).toBe(`source.example:${port}`)
    await expect(get(`http://source.example:${port}/`, policy)).rejects.toMatchObject({ code: 4004 })
  })

  test('the next address of a name is used if the first does not respond', async () => {
    const { port } = await origin((_, response) => response.end('bytes'))
    const policy = sourcePolicy({ allow: ['127.0.0.0/8'], resolve: async () => ['127.0.0.2', '127.0.0.1'] })
    expect(await get(`http://source.example:${port}/`, policy)).toMatchObject({ text: 'bytes' })
  })

  test('TLS requests the certificate of the host name, not of the address, and a failed handshake is reported', async () => {
    const names: string[] = []
    const server = createTlsServer({
      SNICallback: (name, done) => {
        names.push(name)
        done(new Error('no certificate here'))
      },
    })
    server.on('tlsClientError', () => {})
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const policy = sourcePolicy({ allow: ['127.0.0.1'], resolve: async () => ['127.0.0.1'] })
    await expect(get(`https://source.example:${port}/`, policy)).rejects.toMatchObject({ code: 4001 })
    expect(names).toEqual(['source.example'])
    server.close()
  })
})

describe('redirects', () => {
  test.each([301, 302, 303, 307, 308])('status %d is followed without headers of the platform', async (status) => {
    const target = await origin((_, response) => response.end('there'))
    const first = await origin((_, response) => response.writeHead(status, { location: target.url('/b?c=d'), 'set-cookie': 'a=b' }).end())
    expect(await get(first.url('/a?secret=1'))).toMatchObject({ status: 200, text: 'there', finalUrl: target.url('/b?c=d') })
    expect(target.requests[0]?.method).toBe('GET')
    expect(Object.keys(target.requests[0]?.headers ?? {}).sort()).toEqual(['accept', 'accept-encoding', 'connection', 'host', 'user-agent'])
  })

  test('a relative location is resolved against the current URL', async () => {
    const { url } = await origin((request, response) =>
      request.url === '/a/b' ? response.writeHead(302, { location: '../c' }).end() : response.end(request.url),
    )
    expect(await get(url('/a/b'))).toMatchObject({ text: '/c' })
  })

  const forbiddenAddresses = [
    'http://127.0.0.2:PORT/',
    'http://0x7f000002:PORT/',
    'http://[::ffff:7f00:2]:PORT/',
    'http://localhost.:PORT/',
    '//127.2:PORT/',
  ]
  const otherForbiddenUrls = [
    'file:///etc/passwd',
    'ftp://example.com/',
    'data:,x',
    'gopher://127.0.0.1:PORT/',
    'http://u:p@127.0.0.1:PORT/',
    'http://127.0.0.1:22/',
    'http://10.1.2.3/',
  ]
  const statuses = [301, 302, 303, 307, 308]
  test.each([...forbiddenAddresses, ...otherForbiddenUrls].map((location, i) => [statuses[i % 5] ?? 301, location] as const))(
    'status %d to %s is rejected',
    async (status, location) => {
      const canary = await origin((_, response) => response.end('caught'))
      const first = await origin((_, response) =>
        response.writeHead(status, { location: location.replace('PORT', `${canary.port}`) }).end(),
      )
      const policy = sourcePolicy({ allow: ['127.0.0.1'], resolve: async () => ['127.0.0.2'] })
      await expect(get(first.url('/'), policy)).rejects.toMatchObject({ code: 4004 })
      expect(canary.connections()).toBe(0)
    },
  )

  test.each([
    ['five are followed', 5, true],
    ['six are rejected', 6, false],
    ['twenty are rejected', 20, false],
    ['a loop is rejected', Number.POSITIVE_INFINITY, false],
  ])('limits the number of redirects: %s', async (_, hops, isAllowed) => {
    const { url, requests } = await origin((request, response) => {
      const hop = Number(request.url?.slice(1))
      if (hop >= hops) response.end('there')
      else response.writeHead(302, { location: `/${hop + 1}` }).end()
    })
    if (isAllowed) expect(await get(url('/0'))).toMatchObject({ text: 'there' })
    else await expect(get(url('/0'))).rejects.toMatchObject({ code: 4001, message: 'the source redirects more than 5 times' })
    expect(requests).toHaveLength(6)
  })

  test.each([{}, { location: 'http://' }])('a redirect without a valid location is reported (%j)', async (headers) => {
    const { url } = await origin((_, response) => response.writeHead(302, headers).end())
    await expect(get(url('/'))).rejects.toMatchObject({ code: 4001, status: 302 })
  })
})

describe('responses', () => {
  test.each([
    [404, false],
    [403, false],
    [204, false],
    [206, false],
    [304, false],
    [503, true],
    [429, true],
  ])('status %d is not accepted; retryable: %p', async (status, transient) => {
    const { url } = await origin((_, response) => response.writeHead(status).end())
    await expect(get(url('/?token=secret'))).rejects.toMatchObject({
      code: 4001,
      status,
      transient,
      message: `127.0.0.1 responded with status ${status}`,
    })
  })

  test('an error contains only the host of the URL', async () => {
    const { port } = await origin((_, response) => response.writeHead(500).end())
    const url = `http://source.example:${port}/private-path?token=secret`
    for (const addresses of [['127.0.0.1'], ['10.1.2.3'], []]) {
      const policy = sourcePolicy({ allow: ['127.0.0.1'], resolve: async () => addresses })
      const error = await get(url, policy).catch((fault: unknown) => fault)
      expect(String(error)).toMatch(/^SourceError: .*source\.example/)
      expect(String(error)).not.toMatch(/secret|private-path|\d+\.\d+\.\d+/)
    }
  })

  test('a refused connection is reported as unreachable', async () => {
    const { url, close } = await origin(() => {})
    await close()
    await expect(get(url('/'))).rejects.toMatchObject({ code: 4001, transient: true, message: '127.0.0.1 refuses connections' })
  })

  test.each([
    ['gzip', gzipSync(Buffer.alloc(64 << 20))],
    ['br', brotliCompressSync(Buffer.alloc(64 << 20))],
    ['x-unknown', Buffer.from('x')],
  ])('a body with the encoding %s is rejected', async (encoding, bytes) => {
    const { url } = await origin((_, response) => response.setHeader('content-encoding', encoding).end(bytes))
    await expect(get(url('/'))).rejects.toMatchObject({ code: 4001 })
  })

  test('a content length of ten terabytes is rejected before the body', async () => {
    const { url } = await origin((_, response) => response.writeHead(200, { 'content-length': `${10 * 2 ** 40}` }).flushHeaders())
    await expect(get(url('/'))).rejects.toMatchObject({ code: 4003 })
  })

  test('an endless body is cut at the size limit', async () => {
    let sent = 0
    const { url } = await origin((_, response) => {
      const send = () => {
        for (let canWrite = true; canWrite && !response.destroyed; sent += 65_536) canWrite = response.write(Buffer.alloc(65_536))
      }
      response.on('drain', send)
      send()
    })
    const { body } = await guardedGet(url('/'), { ...limits, policy: local })
    let read = 0
    const reading = (async () => {
      for await (const chunk of body as AsyncIterable<Buffer>) read += chunk.length
    })()
    await expect(reading).rejects.toMatchObject({ code: 4003 })
    expect(read).toBeLessThanOrEqual(limits.maxBytes)
    expect(sent).toBeGreaterThan(limits.maxBytes)
  })

  test('a body of exactly the size limit is read completely', async () => {
    const { url } = await origin((_, response) => response.end(Buffer.alloc(limits.maxBytes)))
    expect((await get(url('/'))).text).toHaveLength(limits.maxBytes)
  })

  test('a response that is too slow is aborted', async () => {
    const { url } = await origin((_, response) => {
      const drip = setInterval(() => response.write('x'), 50)
      response.on('close', () => clearInterval(drip))
    })
    const { body } = await guardedGet(url('/'), { ...limits, policy: local, minBytesPerSecond: 1000, rateWindowMs: 300 })
    await expect(buffer(body)).rejects.toMatchObject({ code: 4001, message: '127.0.0.1 sends less than 1000 bytes a second' })
  })

  test('a slow reader is not reported as an error of the source', async () => {
    const { url } = await origin((_, response) => response.end(Buffer.alloc(1 << 20)))
    const { body } = await guardedGet(url('/'), { ...limits, policy: local, minBytesPerSecond: 100_000, rateWindowMs: 500 })
    // Three windows pass, in which the reader accepts no bytes.
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    expect(await buffer(body)).toHaveLength(1 << 20)
  })

  test.each(['headers', 'body'])('a source that stops before the end of its %s is aborted at the time limit', async (where) => {
    const { url } = await origin((_, response) => {
      if (where === 'body') response.write('x')
    })
    const reading = async () => buffer((await guardedGet(url('/'), { ...limits, timeoutMs: 200, policy: local })).body)
    await expect(reading()).rejects.toMatchObject({ code: 4001, message: 'the source took longer than 1 s' })
  })

  test.each([
    ['the content length', { 'content-length': '100' }],
    ['chunks', {}],
  ])('a body shorter than %s is reported', async (_, headers) => {
    const { url } = await origin((_request, response) => {
      response.writeHead(200, headers)
      response.write('ten bytes.', () => response.destroy())
    })
    await expect(get(url('/'))).rejects.toMatchObject({ code: 4001, transient: true })
  })

  test.each(['before', 'while looking up', 'while waiting', 'while reading'])(
    'a signal that is aborted %s ends the request with its own reason',
    async (when) => {
      const controller = new AbortController()
      const reason = new Error('cancelled')
      const { url, port } = await origin((_, response) => {
        if (when === 'while reading') response.write('x')
        else controller.abort(reason)
      })
      const resolve = () => {
        controller.abort(reason)
        return new Promise<string[]>(() => {})
      }
      if (when === 'before') controller.abort(reason)
      const source = when === 'while looking up' ? `http://source.example:${port}/` : url('/')
      const policy = sourcePolicy({ allow: ['127.0.0.1'], resolve })
      const reading = (async () => {
        const { body } = await guardedGet(source, { ...limits, policy, signal: controller.signal })
        controller.abort(reason)
        return buffer(body)
      })()
      await expect(reading).rejects.toBe(reason)
    },
  )
})
