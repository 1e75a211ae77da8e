import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { parseAddressRules } from '@vitascope/security'
import { waitFor } from '@vitascope/testing'
import { uploadRoutes } from '../src/api/upload/upload-routes.ts'
import { type StandIns, startOrigin, startStandIns } from './stand-ins.ts'
import { startTestGateway } from './started-gateway.ts'

/** Result of a caller: a status, or `cut` if the connection ended without one. */
interface Sent {
  outcome: number | 'cut' | undefined
  code: string
  request: ReturnType<typeof httpRequest>
}

let standIns: StandIns
let origin: Awaited<ReturnType<typeof startOrigin>>
let gateway: Awaited<ReturnType<typeof startTestGateway>>
/** Requests at the stand-in of encoding that have neither ended nor been broken off. */
let underWay: Set<IncomingMessage>

beforeEach(async () => {
  underWay = new Set()
  standIns = await startStandIns()
  origin = await startOrigin((request: IncomingMessage, response: ServerResponse) => {
    underWay.add(request)
    request.once('close', () => underWay.delete(request))
    request
      .resume()
      .on('error', () => {})
      .once('end', () => response.writeHead(204).end())
  })
  const settings = {
    authAddress: standIns.address,
    uploadUrl: origin.url,
    uploads: { perAddress: 3, total: 5 },
    trustedProxies: parseAddressRules(['127.0.0.1']).rules ?? [],
  }
  gateway = await startTestGateway(uploadRoutes, settings)
})
afterEach(async () => {
  await gateway.stop(0)
  await origin.stop()
  await standIns.stop()
})

/** Sends the beginning of an object form, and leaves it open. */
function begin(from: string): Sent {
  const headers = { 'content-type': 'multipart/form-data; boundary=b', 'content-length': 10_000_000, 'x-forwarded-for': from }
  const request = httpRequest(`${gateway.url}/v2/upload/object`, { method: 'POST', headers, agent: false })
  const sent: Sent = { outcome: undefined, code: '', request }
  request.on('error', () => {
    sent.outcome ??= 'cut'
  })
  request.on('response', async (answer) => {
    sent.outcome = answer.statusCode
    let body = ''
    for await (const chunk of answer) body += chunk
    sent.code = body === '' ? '' : (JSON.parse(body) as { code: string }).code
  })
  request.write('x')
  return sent
}
/** Sends a whole body at once. */
const whole = (from: string) =>
  fetch(`${gateway.url}/v2/upload/object`, {
    method: 'POST',
    body: new Uint8Array(1_000_000),
    headers: { 'content-type': 'multipart/form-data; boundary=b', 'x-forwarded-for': from },
  })

test('an upload slower than the minimum rate is cut with 408, at encoding too, and one that is fast enough is not', async () => {
  const slow = begin('198.51.100.1')
  const fast = begin('198.51.100.2')
  const feed = setInterval(() => fast.request.write('x'.repeat(2_000)), 100)
  const started = performance.now()
  await waitFor(() => slow.outcome !== undefined, { timeout: 20_000 })
  clearInterval(feed)
  expect(performance.now() - started).toBeGreaterThan(9_000)
  expect(slow.outcome).toBe(408)
  await waitFor(() => slow.code !== '')
  expect(slow.code).toBe('request_timeout')
  await waitFor(() => underWay.size === 1)
  expect(fast.outcome).toBeUndefined()
  fast.request.destroy()
}, 30_000)

test('slow uploads of one address, or of all, give way to new ones', async () => {
  const slow = ['1', '1', '1', '2', '2'].map((nth) => begin(`198.51.100.${nth}`))
  await waitFor(() => underWay.size === 5)
  // A caller that arrives while no slow sender is known is asked to retry.
  await waitFor(async () => (await whole('198.51.100.1')).status === 204)
  await waitFor(async () => (await whole('198.51.100.3')).status === 204)
  await waitFor(() => slow.filter(({ outcome }) => outcome === 503).length >= 1)
  expect(slow.filter(({ outcome }) => outcome === 503).map(({ code }) => code)).toContain('overloaded')
}, 30_000)

test('one address has at most its bound of uploads at once', async () => {
  const feeds = ['1', '1', '1'].map((nth) => {
    const { request } = begin(`198.51.100.${nth}`)
    return setInterval(() => request.write('x'.repeat(2_000)), 50)
  })
  await waitFor(() => underWay.size === 3)
  const answer = await whole('198.51.100.1')
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '1'])
  expect(await answer.json()).toMatchObject({ code: 'too_many_at_once' })
  expect((await whole('198.51.100.2')).status).toBe(204)
  for (const feed of feeds) clearInterval(feed)
})
