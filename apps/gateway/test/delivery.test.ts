import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import { sendRaw, statuses } from './raw-request.ts'
import { sampleRoutes } from './sample-routes.ts'
import { startOrigin } from './stand-ins.ts'
import { startTestGateway } from './started-gateway.ts'

let respond: (request: IncomingMessage, response: ServerResponse) => void
let origin: Awaited<ReturnType<typeof startOrigin>>
let gateway: Awaited<ReturnType<typeof startTestGateway>>

beforeEach(async () => {
  origin = await startOrigin((request, response) => respond(request, response))
  gateway = await startTestGateway(sampleRoutes, { deliveryUrl: origin.url })
})
afterEach(async () => {
  await gateway.stop()
  await origin.stop()
})

test('forwards path, query and range, and returns the response unchanged', async () => {
  let seen: IncomingMessage | undefined
  respond = (request, response) => {
    seen = request
    response
      .writeHead(206, { 'content-range': 'bytes 0-3/9', 'cache-control': 'max-age=5', 'access-control-allow-origin': '*' })
      .end('abcd')
  }
  const path = '/delivery/12/v1~to.ken/h264_100/seg%20x.m4s?token=a%2Fb'
  const response = await fetch(`${gateway.url}${path}`, { headers: { range: 'bytes=0-3' } })
  expect([response.status, await response.text(), response.headers.get('content-range'), response.headers.get('cache-control')]).toEqual([
    206,
    'abcd',
    'bytes 0-3/9',
    'max-age=5',
  ])
  expect([seen?.url, seen?.headers.range]).toEqual([path, 'bytes=0-3'])
})

test('sends the verified client address to delivery, and no forwarding or authorization headers of the client', async () => {
  let headers: IncomingMessage['headers'] = {}
  respond = (request, response) => {
    headers = request.headers
    response.end()
  }
  const claims = {
    'x-forwarded-for': '1.1.1.1',
    'x-forwarded-host': 'evil',
    'x-forwarded-proto': 'https',
    forwarded: 'for=1.1.1.1',
    'x-real-ip': '1.1.1.1',
    authorization: 'Bearer secret',
    cookie: 'a=b',
    via: '1.1 evil',
    'x-request-id': 'mine',
  }
  await fetch(`${gateway.url}/delivery/x`, { headers: claims })
  expect(headers).toMatchObject({ 'x-forwarded-for': '127.0.0.1', 'x-request-id': 'mine' })
  for (const name of Object.keys(claims).slice(1, -1)) expect(headers[name]).toBeUndefined()
})

test('a client cannot remove a header by naming it in Connection', async () => {
  let headers: IncomingMessage['headers'] = {}
  respond = (request, response) => {
    headers = request.headers
    response.end('ok')
  }
  const raw = await sendRaw(gateway.address, 'GET /delivery/x HTTP/1.1\r\nHost: h\r\nConnection: close, x-forwarded-for\r\n\r\n')
  expect(statuses(raw)).toEqual([200])
  expect(headers).toMatchObject({ 'x-forwarded-for': '127.0.0.1', connection: 'keep-alive' })
})

test('repeats a request whose idle connection was closed by delivery', async () => {
  const requests = new Map<Socket, number>()
  respond = ({ socket }, response) => {
    const count = (requests.get(socket) ?? 0) + 1
    requests.set(socket, count)
    if (count > 1) socket.destroy()
    else response.end('ok')
  }
  for (let sent = 0; sent < 5; sent++) {
    const response = await fetch(`${gateway.url}/delivery/x`)
    expect([response.status, await response.text()]).toEqual([200, 'ok'])
  }
  expect([...requests.values()].filter((count) => count > 1).length).toBeGreaterThan(0)
})

test('a request that fails on a new connection is not repeated', async () => {
  let requests = 0
  respond = ({ socket }) => {
    requests++
    socket.destroy()
  }
  expect((await fetch(`${gateway.url}/delivery/x`)).status).toBe(503)
  expect(requests).toBe(1)
})

test('a request on an idle connection is not repeated if delivery does not respond in time', async () => {
  let isSilent = false
  let unanswered = 0
  respond = (_request, response) => {
    if (isSilent) unanswered++
    else response.end('ok')
  }
  expect(await (await fetch(`${gateway.url}/delivery/x`)).text()).toBe('ok')
  isSilent = true
  expect((await fetch(`${gateway.url}/delivery/x`)).status).toBe(503)
  expect(unanswered).toBe(1)
}, 40_000)

test('forwards more than 256 requests at once', async () => {
  const responses: ServerResponse[] = []
  respond = (_request, response) => responses.push(response)
  const busy = await startTestGateway(sampleRoutes, { deliveryUrl: origin.url, downloads: { perAddress: 300, total: 300 } })
  const statusesAtOnce = Array.from({ length: 300 }, async () => (await fetch(`${busy.url}/delivery/x`)).status)
  await waitFor(() => responses.length === 300, { describe: 'all requests to reach delivery' })
  for (const response of responses) response.end()
  expect(new Set(await Promise.all(statusesAtOnce))).toEqual(new Set([200]))
  await busy.stop()
})

test('streams the response: the first bytes arrive before the last ones are sent', async () => {
  let finish = () => {}
  respond = (_request, response) => {
    response.write('first')
    finish = () => response.end('last')
  }
  const response = await fetch(`${gateway.url}/delivery/x`)
  const reader = response.body?.getReader()
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('first')
  finish()
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('last')
})

test('a client that disconnects ends the request to delivery', async () => {
  let closed = false
  respond = (_request, response) => {
    response.on('close', () => {
      closed = true
    })
    const more = () => response.write('x'.repeat(65_536), () => !closed && setImmediate(more))
    more()
  }
  const [host, port] = gateway.address.split(':')
  const socket = connect(Number(port), host)
  socket.write('GET /delivery/x HTTP/1.1\r\nHost: h\r\n\r\n')
  await once(socket, 'data')
  socket.destroy()
  await waitFor(() => closed, { timeout: 2_000, describe: 'the request to delivery to end' })
})

test('a response that delivery aborts is aborted for the client too', async () => {
  respond = (_request, response) => {
    response.writeHead(200, { 'content-length': '100' })
    response.write('half', () => response.destroy())
  }
  const response = await fetch(`${gateway.url}/delivery/x`)
  await expect(response.text()).rejects.toThrow()
})

test('accepts only read methods without a body', async () => {
  respond = (_request, response) => response.end()
  expect((await fetch(`${gateway.url}/delivery/x`, { method: 'POST', body: 'x' })).status).toBe(405)
  const raw = await sendRaw(gateway.address, 'GET /delivery/x HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nGET /')
  expect(statuses(raw)[0]).toBe(400)
})

test('returns 503 while delivery is unavailable', async () => {
  respond = (_request, response) => response.end()
  const withoutDelivery = await startTestGateway(sampleRoutes)
  const response = await fetch(`${withoutDelivery.url}/delivery/x`)
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1'])
  expect(await response.json()).toMatchObject({ code: 'service_unavailable', instance: '/delivery' })
  await withoutDelivery.stop()
})
