import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import { sendRaw, statuses } from './raw-request.ts'
import { sampleRoutes } from './sample-routes.ts'
import { startOrigin } from './stand-ins.ts'
import { startTestGateway } from './started-gateway.ts'

let answer: (request: IncomingMessage, response: ServerResponse) => void
let origin: Awaited<ReturnType<typeof startOrigin>>
let gateway: Awaited<ReturnType<typeof startTestGateway>>

beforeEach(async () => {
  origin = await startOrigin((request, response) => answer(request, response))
  gateway = await startTestGateway(sampleRoutes, { deliveryUrl: origin.url })
})
afterEach(async () => {
  await gateway.stop()
  await origin.stop()
})

test('passes path, query, range and answer on as they are', async () => {
  let seen: IncomingMessage | undefined
  answer = (request, response) => {
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

test('sends the verified principal to delivery, and no claim of the caller', async () => {
  let headers: IncomingMessage['headers'] = {}
  answer = (request, response) => {
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

test('a header cannot be dropped on the way by naming it in Connection', async () => {
  let headers: IncomingMessage['headers'] = {}
  answer = (request, response) => {
    headers = request.headers
    response.end('ok')
  }
  const raw = await sendRaw(gateway.address, 'GET /delivery/x HTTP/1.1\r\nHost: h\r\nConnection: close, x-forwarded-for\r\n\r\n')
  expect(statuses(raw)).toEqual([200])
  expect(headers).toMatchObject({ 'x-forwarded-for': '127.0.0.1', connection: 'close' })
})

test('streams: the first bytes are there before the last ones are made', async () => {
  let finish = () => {}
  answer = (_request, response) => {
    response.write('first')
    finish = () => response.end('last')
  }
  const response = await fetch(`${gateway.url}/delivery/x`)
  const reader = response.body?.getReader()
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('first')
  finish()
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('last')
})

test('a caller who hangs up ends the request to delivery', async () => {
  let closed = false
  answer = (_request, response) => {
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
  await waitFor(() => closed, { timeout: 2_000, describe: 'delivery to see the end' })
})

test('an answer that breaks off breaks off here too', async () => {
  answer = (_request, response) => {
    response.writeHead(200, { 'content-length': '100' })
    response.write('half', () => response.destroy())
  }
  const response = await fetch(`${gateway.url}/delivery/x`)
  await expect(response.text()).rejects.toThrow()
})

test('takes reading verbs without a body only', async () => {
  answer = (_request, response) => response.end()
  expect((await fetch(`${gateway.url}/delivery/x`, { method: 'POST', body: 'x' })).status).toBe(405)
  const raw = await sendRaw(gateway.address, 'GET /delivery/x HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nGET /')
  expect(statuses(raw)[0]).toBe(400)
})

test('is 503 while delivery is away', async () => {
  answer = (_request, response) => response.end()
  const away = await startTestGateway(sampleRoutes)
  const response = await fetch(`${away.url}/delivery/x`)
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1'])
  expect(await response.json()).toMatchObject({ code: 'service_unavailable', instance: '/delivery' })
  await away.stop()
})
