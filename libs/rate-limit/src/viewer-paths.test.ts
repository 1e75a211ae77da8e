import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { createMetrics } from '@vitascope/telemetry'
import { testLog } from '@vitascope/testing'
import { DEFAULT_LIMITS, type Limits } from './limits.ts'
import { createUnknownIds, limitViewerPaths, markResponseStarted } from './viewer-paths.ts'

interface ReceivedResponse {
  status: number
  headers: Record<string, string>
  body: { code?: string } & Record<string, unknown>
  response: ServerResponse
}

/**
 * Sends requests through the limits. Requests that pass stay in progress until the test ends them.
 */
function paths(limits: Partial<Limits> | 'off', bounds?: { waiting: number; active: number }) {
  const all = limits === 'off' ? limits : { ...DEFAULT_LIMITS, ...limits }
  const passed: ServerResponse[] = []
  const listener = limitViewerPaths((_, response) => passed.push(response), {
    limits: all,
    unknownIds: createUnknownIds(all),
    trustedProxies: [],
    reject: (_, response, { status, retryAfter, headers, ...body }) =>
      response.writeHead(status, { 'Retry-After': String(retryAfter), ...headers }).end(JSON.stringify({ status, ...body })),
    log: testLog,
    metrics: createMetrics('viewer-paths-test'),
    ...(bounds && { bounds }),
  })
  /** Returns the rejection, or undefined for a request that passed. */
  const send = async (url: string, { address = '192.0.2.1', method = 'GET' } = {}): Promise<ReceivedResponse | undefined> => {
    const received: Partial<ReceivedResponse> = {}
    const response = Object.assign(new EventEmitter(), {
      destroyed: false,
      statusCode: 200,
      headersSent: false,
      writeHead(status: number, headers: Record<string, string>) {
        Object.assign(received, { status, headers })
        return this
      },
      end: (body = '{}') => Object.assign(received, { body: JSON.parse(body) }),
    }) as unknown as ServerResponse
    // Implements only what the limits use of a request and a response.
    const request = { url, method, headers: {}, socket: { remoteAddress: address } } as unknown as IncomingMessage
    const before = passed.length
    listener(request, response)
    for (let turns = 0; passed.length === before && received.body === undefined; turns++) {
      if (turns > 1_000) throw new Error(`${url} was neither admitted nor rejected`)
      await turn()
    }
    return received.body ? (received as ReceivedResponse) : undefined
  }
  /** Ends a response. With the status 0, the client disconnects before it. */
  const end = (response: ServerResponse | undefined, statusCode = 200, headers: Readonly<Record<string, string>> = {}) => {
    if (!response) throw new Error('no request is in progress')
    const sent = { statusCode, headersSent: true, getHeader: (name: string) => headers[name] }
    if (statusCode !== 0) Object.assign(response, sent)
    response.emit('close')
  }
  return { send, passed, end }
}
const FILE = '/delivery/42/v1/h264_400/seg-1.m4s'

test.each([FILE, '/player/42', '/player/assets/app.js', '/o/2?q=x', '/oembed?url=x'])(
  'limits the concurrent requests of one address: %s',
  async (url) => {
    const { send, passed, end } = paths({ media_at_once: 3 })
    for (let nth = 0; nth < 3; nth++) expect(await send(url)).toBeUndefined()
    expect(await send(url)).toMatchObject({
      status: 429,
      headers: { 'Retry-After': '1', 'RateLimit-Policy': '"media_at_once";q=3;qu="concurrent-requests"', RateLimit: '"media_at_once";r=0' },
      body: { code: 'too_many_at_once', status: 429 },
    })
    expect(await send(url, { address: '192.0.2.2' })).toBeUndefined()
    end(passed[0])
    expect(await send(url)).toBeUndefined()
  },
)

test('a /48 has four times as many concurrent requests', async () => {
  const { send } = paths({ media_at_once: 2 })
  for (let network = 0; network < 4; network++) {
    for (let nth = 0; nth < 2; nth++) expect(await send(FILE, { address: `2001:db8:1:${network}::1` })).toBeUndefined()
  }
  expect(await send(FILE, { address: '2001:db8:1:9::1' })).toMatchObject({ status: 429 })
  expect(await send(FILE, { address: '2001:db8:2::1' })).toBeUndefined()
})

test('limits the request rate of one address', async () => {
  const { send, passed, end } = paths({ media: 1, burst: 30 })
  for (let nth = 0; nth < 30; nth++) {
    expect(await send(FILE)).toBeUndefined()
    end(passed.at(-1))
  }
  const rejected = await send(FILE)
  expect(rejected).toMatchObject({ status: 429, headers: { 'RateLimit-Policy': '"media";q=30;w=30' }, body: { code: 'rate_limited' } })
  expect(rejected?.headers['RateLimit']).toMatch(/^"media";r=0;t=\d+$/)
  expect(rejected?.headers['Retry-After']).toMatch(/^\d+$/)
  expect(await send(FILE, { address: '192.0.2.2' })).toBeUndefined()
})

test('an address above the limit of unknown ids reaches only ids that were found', async () => {
  const { send, passed, end } = paths({ unknown: 1, burst: 30 })
  const call = async (url: string, status: number) => {
    const received = await send(url)
    if (received) return received.status
    end(passed.at(-1), status)
    return status
  }
  expect(await call(FILE, 206)).toBe(206)
  // A missing file of an existing id is not an unknown id.
  for (let nth = 0; nth < 40; nth++) expect(await call(FILE, 404)).toBe(404)
  for (let nth = 1; nth <= 30; nth++) expect(await call(`/delivery/9${nth}/v1/x.m4s`, 404)).toBe(404)
  expect(await send('/delivery/904/v1/x.m4s')).toMatchObject({ status: 429, headers: { 'RateLimit-Policy': '"unknown";q=30;w=30' } })
  expect(await send('/delivery/presentation/905/v1/x.png')).toMatchObject({ status: 429 })
  expect(await call(FILE, 200)).toBe(200)
  expect(await send('/delivery/906/v1/x.m4s', { address: '192.0.2.2' })).toBeUndefined()
})

test.each([
  ['a rejected method', 405, ''],
  ['a malformed token', 401, ''],
  ['a token that moves into the path', 302, '/delivery/901/v1~token/x.m4s'],
  ['a disconnect before the response', 0, ''],
])('%s does not make an unknown id known', async (_, status, location) => {
  const { send, passed, end } = paths({ unknown: 1, burst: 30 })
  for (let nth = 1; nth <= 30; nth++) {
    const url = `/delivery/9${nth}/v1/x.m4s`
    await send(url)
    end(passed.at(-1), status, { Location: location })
    await send(url)
    end(passed.at(-1), 404)
  }
  expect(await send('/delivery/904/v1/x.m4s')).toMatchObject({ status: 429, headers: { 'RateLimit-Policy': '"unknown";q=30;w=30' } })
})

test('a redirection to the bucket makes an id known', async () => {
  const { send, passed, end } = paths({ unknown: 1, burst: 30 })
  await send(FILE)
  end(passed.at(-1), 302, { Location: 'https://bucket.example/object' })
  for (let nth = 1; nth <= 30; nth++) {
    await send(`/delivery/9${nth}/v1/x.m4s`)
    end(passed.at(-1), 404)
  }
  expect(await send('/delivery/904/v1/x.m4s')).toMatchObject({ status: 429 })
  expect(await send(FILE)).toBeUndefined()
})

test('limits pending and running requests of all callers together', async () => {
  const { send, passed, end } = paths('off', { waiting: 2, active: 4 })
  const overloaded = { status: 503, headers: { 'Retry-After': '1' }, body: { code: 'overloaded' } }
  for (let nth = 0; nth < 2; nth++) expect(await send(FILE, { address: `192.0.2.${nth}` })).toBeUndefined()
  expect(await send(FILE)).toMatchObject(overloaded)
  expect(await send('/v2/video/42')).toBeUndefined()
  const files = passed.slice(0, 2)
  for (const response of files) markResponseStarted(response)
  for (let nth = 0; nth < 2; nth++) {
    expect(await send(FILE)).toBeUndefined()
    const last = passed.at(-1)
    if (last) markResponseStarted(last)
  }
  expect(await send(FILE)).toMatchObject(overloaded)
  end(files[0])
  expect(await send(FILE)).toBeUndefined()
})

test('500 viewers behind one address with six connections each stay within the limits', async () => {
  const { send, passed, end } = paths({})
  const requests = DEFAULT_LIMITS.media * DEFAULT_LIMITS.burst
  while (passed.length < requests) {
    const from = passed.length
    while (passed.length < Math.min(requests, from + 500 * 6)) expect(await send(FILE)).toBeUndefined()
    for (const response of passed.slice(from)) end(response)
  }
  // 500 viewers with 40 files each within 10 s make 2,000 requests per second.
  expect(DEFAULT_LIMITS.media).toBeGreaterThanOrEqual((500 * 40) / 10)
})
