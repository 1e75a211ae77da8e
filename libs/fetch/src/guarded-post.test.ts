import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, expect, test } from '@jest/globals'
import { type LocalOrigin, startOrigin } from '../test/local-origin.ts'
import { guardedGet } from './guarded-get.ts'
import { guardedPost } from './guarded-post.ts'
import { sourcePolicy } from './policy.ts'

const policy = sourcePolicy({ allow: ['127.0.0.1'] })
const origins: LocalOrigin[] = []
afterEach(() => Promise.all(origins.splice(0).map((origin) => origin.close())))

async function receiver(listener: Parameters<typeof startOrigin>[0]) {
  const origin = await startOrigin(listener)
  origins.push(origin)
  return origin
}

const post = (url: string, more: object = {}) =>
  guardedPost(url, { policy, headers: { 'content-type': 'application/json' }, body: '{"ä":1}', timeoutMs: 10_000, ...more })

test('sends the complete body with its headers', async () => {
  let received = ''
  const origin = await receiver(async (request, response) => {
    received = `${request.method} ${request.headers['content-type']} ${request.headers['content-length']} ${await text(request)}`
    response.writeHead(204).end()
  })
  expect(await post(origin.url('/hook'))).toEqual({ status: 204 })
  expect(received).toBe('POST application/json 8 {"ä":1}')
})

test('returns any status, and does not follow redirects', async () => {
  const redirectTarget = await receiver((_, response) => response.end())
  const origin = await receiver((request, response) => {
    if (request.url === '/500') response.writeHead(500).end('no')
    else response.writeHead(307, { location: redirectTarget.url('/') }).end()
  })
  expect([await post(origin.url('/500')), await post(origin.url('/307'))]).toEqual([{ status: 500 }, { status: 307 }])
  expect(redirectTarget.connections()).toBe(0)
})

test('reads only the start of a long response, and ends a slow one at the time limit, both without an error', async () => {
  let isCut = false
  const origin = await receiver((request, response) => {
    if (request.url === '/slow') {
      response.writeHead(200).write('x')
      return
    }
    response.on('close', () => {
      isCut = !response.writableFinished
    })
    response.end(Buffer.alloc(64 << 20))
  })
  expect(await post(origin.url('/long'))).toEqual({ status: 200 })
  expect(await post(origin.url('/slow'), { timeoutMs: 3_000 })).toEqual({ status: 200 })
  expect(isCut).toBe(true)
})

test('throws if there is no response, and never connects to a forbidden address', async () => {
  const silent = await receiver(() => {})
  await expect(post(silent.url('/'), { timeoutMs: 200 })).rejects.toMatchObject({ code: 4001 })
  const before = silent.connections()
  await expect(post(silent.url('/'), { policy: sourcePolicy() })).rejects.toMatchObject({ code: 4004 })
  const resolvesToLoopback = sourcePolicy({ resolve: async () => ['127.0.0.1'] })
  await expect(post(`http://hook.example:${silent.port}/`, { policy: resolvesToLoopback })).rejects.toMatchObject({ code: 4004 })
  expect(silent.connections()).toBe(before)
})

test('an aborted signal ends the request with its own reason', async () => {
  const abort = new AbortController()
  const silent = await receiver(() => abort.abort(new Error('shutdown')))
  await expect(post(silent.url('/'), { signal: abort.signal })).rejects.toThrow('shutdown')
})

test('a switch to another protocol is not accepted as a response', async () => {
  const switching = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\nConnection: Upgrade\r\n\r\n'))
  })
  await once(switching.listen(0, '127.0.0.1'), 'listening')
  const { port } = switching.address() as AddressInfo
  try {
    const url = `http://127.0.0.1:${port}/hook`
    await expect(post(url)).rejects.toThrow()
    await expect(guardedGet(url, { policy, maxBytes: 1_000, timeoutMs: 10_000 })).rejects.toThrow()
  } finally {
    switching.close()
  }
})
