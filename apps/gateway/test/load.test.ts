// Faults: R8
import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { parseAddressRules } from '@vitascope/security'
import { extendTimeout, waitFor } from '@vitascope/testing'
import { z } from 'zod'
import { route } from '../src/server/route/route.ts'
import { sendRaw } from './raw-request.ts'
import { sampleRoutes } from './sample-routes.ts'
import { nextApiKey, type StandIns, startStandIns } from './stand-ins.ts'
import { startTestGateway, withKey } from './started-gateway.ts'

let standIns: StandIns
let gateway: Awaited<ReturnType<typeof startTestGateway>>
let release: () => void
let waiting: number

// GET /v2/sample/id waits until the test responds.
beforeEach(async () => {
  standIns = await startStandIns()
  const trustedProxies = parseAddressRules(['127.0.0.1']).rules ?? []
  const { address } = standIns
  gateway = await startTestGateway(sampleRoutes, { authAddress: address, catalogueAddress: address, trustedProxies })
  waiting = 0
  const gate = new Promise<void>((resolve) => {
    release = resolve
  })
  standIns.nextId = async () => {
    waiting++
    await gate
    return '1'
  }
})
afterEach(async () => {
  release()
  await gateway.stop()
  await standIns.stop()
})

interface ReceivedResponse {
  status: number
  connection: string | undefined
  retryAfter: string | undefined
}

function get(path: string, agent: Agent, headers: Record<string, string> = {}, url = gateway.url): Promise<ReceivedResponse> {
  return new Promise((resolve, reject) => {
    request(`${url}${path}`, { agent, headers }, (response) => {
      response.resume().on('end', () => {
        const { connection, 'retry-after': retryAfter } = response.headers
        resolve({ status: response.statusCode ?? 0, connection, retryAfter })
      })
    })
      .on('error', reject)
      .end()
  })
}

test('rejects requests over the limit at once, reads before writes, and responds to all others', async () => {
  const key = nextApiKey()
  standIns.keys.set(key, { keyId: '1', userType: 'uploader', organisationId: '2', resources: ['sample::post'] })
  const agent = new Agent({ keepAlive: true })
  const responses: ReceivedResponse[] = []
  // Ten callers, each far below its share.
  const from = (n: number) => ({ 'x-forwarded-for': `203.0.113.${n % 10}` })
  const pending = Array.from({ length: 560 }, (_, n) => get('/v2/sample/id', agent, from(n)).then((response) => responses.push(response)))
  // More than 480 if the machine is so slow that some requests reach their deadline.
  await waitFor(() => responses.length >= 480, { describe: () => `480 rejections (${responses.length} so far)` })
  expect(new Set(responses.map(({ status, retryAfter }) => `${status} ${retryAfter}`))).toEqual(new Set(['503 1']))
  const headers = { ...withKey(key), 'content-type': 'application/json' }
  const write = await fetch(`${gateway.url}/v2/sample`, { method: 'POST', headers, body: '{"title":"t"}' })
  expect(write.status).toBe(201)
  release()
  await Promise.all(pending)
  expect(responses.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(80)
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200, 503]))
  agent.destroy()
})

test('a single caller is limited to three quarters of the slots, and gets 429 beyond', async () => {
  const key = nextApiKey()
  standIns.keys.set(key, { keyId: '1', userType: 'uploader', organisationId: '2', resources: ['sample::post'] })
  const agent = new Agent({ keepAlive: true })
  const responses: ReceivedResponse[] = []
  const pending = Array.from({ length: 140 }, () => get('/v2/sample/id', agent, withKey(key)).then((response) => responses.push(response)))
  // More than 80 if the machine is so slow that some requests reach their deadline.
  await waitFor(() => responses.length >= 80, { describe: () => `80 rejections (${responses.length} so far)` })
  expect(new Set(responses.map(({ status, retryAfter }) => `${status} ${retryAfter}`))).toEqual(new Set(['429 1']))
  const write = await fetch(`${gateway.url}/v2/sample`, { method: 'POST', headers: withKey(key), body: new URLSearchParams('title=t') })
  expect(write.status).toBe(201)
  const more = await fetch(`${gateway.url}/v2/sample/1`, { headers: withKey(key) })
  expect([more.status, await more.json()]).toMatchObject([429, { code: 'too_many_at_once' }])
  expect((await get('/v2/sample/1', agent)).status).toBe(200)
  release()
  await Promise.all(pending)
  expect(responses.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(60)
  expect((await get('/v2/sample/id', agent, withKey(key))).status).toBe(200)
  agent.destroy()
})

test('an overload rejection has the usual format, and writes, preflights and pages are admitted', async () => {
  const taking = route({
    get: ['/taking/:id'],
    operationId: 'takeSample',
    section: 'Samples',
    access: 'public',
    cost: 'write',
    readOnly: false,
    audited: false,
    summary: 'Take a sample',
    params: z.object({ id: z.string() }),
    response: z.object({}),
    handle: async () => ({}),
  })
  const trustedProxies = parseAddressRules(['127.0.0.1']).rules ?? []
  const others = await startTestGateway([...sampleRoutes, taking], {
    authAddress: standIns.address,
    catalogueAddress: standIns.address,
    trustedProxies,
    corsOrigins: ['https://www.example.org'],
  })
  const agent = new Agent({ keepAlive: true })
  const from = (n: number) => ({ 'x-forwarded-for': `203.0.113.${n % 10}` })
  const pending = Array.from({ length: 80 }, (_, n) => get('/v2/sample/id', agent, from(n), others.url))
  await waitFor(() => waiting === 80)
  const headers = { 'x-request-id': 'mine', origin: 'https://www.example.org' }
  const rejected = await fetch(`${others.url}/v2/sample/1`, { headers })
  expect(rejected.status).toBe(503)
  expect(Object.fromEntries(rejected.headers)).toMatchObject({
    'content-type': 'application/problem+json',
    'retry-after': '1',
    'x-request-id': 'mine',
    'cache-control': 'no-store',
    'access-control-allow-origin': 'https://www.example.org',
    vary: 'Origin',
  })
  expect(await rejected.json()).toEqual({
    type: `${others.url}/docs#overloaded`,
    title: 'Overloaded',
    status: 503,
    detail: 'too many requests are active; try again',
    instance: '/v2',
    code: 'overloaded',
    request_id: 'mine',
  })
  const status = async (method: string, path: string) => (await fetch(`${others.url}${path}`, { method })).status
  expect(await status('HEAD', '/v2/sample/1')).toBe(503)
  expect(await status('GET', '/v2/sample/1?x=/v2/taking/1')).toBe(503)
  expect(await status('GET', '/v2/nothing')).toBe(503)
  expect(await status('GET', '/v2/taking/1')).toBe(200)
  expect(await status('POST', '/v2/sample')).toBe(401)
  expect(await status('OPTIONS', '/v2/sample')).toBe(204)
  expect(await status('GET', '/healthz')).toBe(200)
  const metrics = await (await fetch(`http://${others.metricsAddress}/metrics`)).text()
  expect(metrics).toMatch(/^vitascope_http_requests_rejected_total\{.*kind="read".*\} 4$/m)
  release()
  expect(new Set((await Promise.all(pending)).map((response) => response.status))).toEqual(new Set([200]))
  expect(await status('GET', '/v2/sample/1')).toBe(200)
  agent.destroy()
  await others.stop()
})

test('stop finishes running requests and accepts no new ones', async () => {
  const agent = new Agent({ keepAlive: true })
  const running = get('/v2/sample/id', agent)
  await waitFor(() => waiting === 1)
  const started = performance.now()
  const stopped = gateway.stop()
  await expect(fetch(`${gateway.url}/healthz`)).rejects.toThrow()
  release()
  expect(await running).toMatchObject({ status: 200 })
  await stopped
  expect(performance.now() - started).toBeLessThan(extendTimeout(4_000))
  agent.destroy()
})

test('slow bodies use no slots of other requests', async () => {
  const submit = route({
    post: ['/sample/submission'],
    operationId: 'submitSample',
    section: 'Samples',
    access: 'public',
    summary: 'Send a sample',
    payload: z.object({}),
    response: z.object({}),
    handle: async () => ({}),
  })
  const others = await startTestGateway([...sampleRoutes, submit], { authAddress: standIns.address, catalogueAddress: standIns.address })
  const key = nextApiKey()
  standIns.keys.set(key, { keyId: '1', userType: 'uploader', organisationId: '2', resources: ['sample::post'] })
  const [host, port] = others.address.split(':')
  // More bodies than slots. A new body above the limit of its address replaces the oldest one.
  let started = 0
  const sockets = Array.from({ length: 660 }, () =>
    connect(Number(port), host)
      .on('error', () => {})
      .on('connect', function (this: Socket) {
        this.resume().write('POST /v2/sample/submission HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n{', () => started++)
      }),
  )
  await waitFor(() => started === sockets.length)
  const headers = { ...withKey(key), 'content-type': 'application/json' }
  const statuses = []
  for (let i = 0; i < 20; i++) {
    statuses.push((await fetch(`${others.url}/v2/sample/1`)).status)
    statuses.push((await fetch(`${others.url}/v2/sample`, { method: 'POST', headers, body: '{"title":"t"}' })).status)
    const guest = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
    statuses.push((await fetch(`${others.url}/v2/sample/submission`, guest)).status)
  }
  expect(new Set(statuses)).toEqual(new Set([200, 201]))
  for (const socket of sockets) socket.destroy()
  await others.stop()
})

test('rejects a body that does not arrive within a few seconds', async () => {
  const key = nextApiKey()
  standIns.keys.set(key, { keyId: '1', userType: 'uploader', organisationId: '2', resources: ['sample::post'] })
  const head = `POST /v2/sample HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${key}\r\nContent-Length: 1000\r\n\r\n{`
  const response = await sendRaw(gateway.address, head, { wait: 25_000 })
  expect(response).toMatch(/^HTTP\/1.1 408 [\s\S]*\r\nConnection: close\r\n[\s\S]*"code":"request_timeout"/)
})
