import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { DomainError } from '@vitascope/errors'
import { waitFor } from '@vitascope/testing'
import { z } from 'zod'
import { route } from '../src/server/route/route.ts'
import { nextApiKey, type StandIns, startStandIns } from './stand-ins.ts'
import { startTestGateway, withKey } from './started-gateway.ts'

let standIns: StandIns
let gateway: Awaited<ReturnType<typeof startTestGateway>>
let handled: string[] = []
let during: () => Promise<unknown> = async () => undefined

const common = { operationId: 'callThing', section: 'Audit log', access: 'public', response: z.unknown() } as const
const handle = async () => {
  handled.push('handled')
  await during()
  return { id: '77' }
}
const thingRoute = { params: z.object({ thingId: z.string() }), summary: 'a thing', ...common, handle }
const routes = [
  route({ get: ['/thing/:thingId'], ...thingRoute }),
  route({ post: ['/thing/:thingId'], ...thingRoute, payload: z.strictObject({ colour: z.enum(['red', 'blue']) }), status: 201 }),
  route({ get: ['/pop'], summary: 'pops', ...common, readOnly: false, handle }),
  route({ get: ['/secret/:thingId'], ...thingRoute, audited: true }),
  route({ get: ['/computed'], summary: 'stores nothing', ...common, readOnly: false, audited: false, handle }),
]

beforeAll(async () => {
  standIns = await startStandIns()
  gateway = await startTestGateway(routes, { authAddress: standIns.address, catalogueAddress: standIns.address })
  await waitFor(() => standIns.watchers() === 1)
})
afterEach(() => {
  handled = []
  during = async () => undefined
  standIns.beforeAppend = async () => {}
})
afterAll(async () => {
  await gateway?.stop()
  await standIns?.stop()
})

function registerKey(): string {
  const key = nextApiKey()
  standIns.keys.set(key, { keyId: '5', userType: 'uploader', organisationId: '2', resources: ['thing::post'] })
  return key
}
const post = (id: string, headers: Record<string, string> = {}, colour = 'red') =>
  fetch(`${gateway.url}/v2/thing/${id}`, {
    method: 'POST',
    body: JSON.stringify({ colour }),
    headers: { 'content-type': 'application/json', ...headers },
  })
const listEntries = (requestId: string) => standIns.audit.flatMap(({ entries }) => entries).filter((entry) => entry.requestId === requestId)
const waitForOutcome = async (requestId: string) => {
  const [entry] = listEntries(requestId)
  const find = () => standIns.audit.flatMap(({ outcomes }) => outcomes).find(({ entryId }) => entryId === entry?.entryId)
  await waitFor(() => find() !== undefined, { describe: 'the outcome of a write' })
  return find()
}

test('a read of secrets is logged before it is handled, and returns 503 if the audit log is unavailable', async () => {
  let before: unknown
  during = async () => (before = listEntries('s1'))
  const read = (requestId: string) => fetch(`${gateway.url}/v2/secret/42`, { headers: { 'x-request-id': requestId } })
  expect((await read('s1')).status).toBe(200)
  expect(before).toMatchObject([{ action: 'secret::get', object: '/secret/42', address: '127.0.0.1' }])
  expect(await waitForOutcome('s1')).toMatchObject({ status: 200 })
  standIns.beforeAppend = async () => {
    throw new DomainError('unavailable', 'DATABASE_UNAVAILABLE', 'not now')
  }
  handled = []
  expect([(await read('s2')).status, handled]).toEqual([503, []])
})

test('a write is logged before it is handled, and its outcome is logged afterwards', async () => {
  const key = registerKey()
  let before: unknown
  during = async () => (before = listEntries('r1'))
  expect((await post('42', { ...withKey(key), 'x-request-id': 'r1' })).status).toBe(201)
  expect(before).toEqual([
    {
      ...{ entryId: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/), organisationId: '2', userId: '95', keyStart: key.slice(0, 8) },
      ...{ action: 'thing::post', object: '/thing/42', requestId: 'r1', address: '127.0.0.1' },
    },
  ])
  expect(await waitForOutcome('r1')).toMatchObject({ status: 201, createdId: '77' })
})

test('the entry of a guest has no key, and a path parameter that is not an id is hidden', async () => {
  expect((await post('a-secret-name', { 'x-request-id': 'r2' })).status).toBe(201)
  expect(listEntries('r2')).toMatchObject([{ organisationId: '', userId: '', keyStart: '', object: '/thing/:thing_id' }])
})

test('reads, invalid input and routes that store nothing have no entry, and a GET that changes something has one', async () => {
  const call = (path: string, id: string) => fetch(`${gateway.url}/v2${path}`, { headers: { 'x-request-id': id } })
  expect((await call('/thing/1', 'r3')).status).toBe(200)
  expect((await call('/computed', 'r4')).status).toBe(200)
  expect((await post('1', { 'x-request-id': 'r5' }, 'green')).status).toBe(400)
  expect(['r3', 'r4', 'r5'].flatMap(listEntries)).toEqual([])
  expect((await call('/pop', 'r6')).status).toBe(200)
  expect(listEntries('r6')).toHaveLength(1)
})

test.each([
  ['a domain error with its status', () => new DomainError('not_found', 'NOTHING', 'no record'), 404],
  ['an unexpected error with status 500', () => new Error('broken'), 500],
] as const)('the outcome of a write records %s', async (name, failure, status) => {
  during = async () => {
    throw failure()
  }
  const id = `end-${status}`
  expect([name, (await post('1', { 'x-request-id': id })).status]).toEqual([name, status])
  expect(await waitForOutcome(id)).toMatchObject({ status, createdId: '' })
})

test('a write returns 503 and is not handled while the audit log is unavailable', async () => {
  standIns.beforeAppend = async () => {
    throw new DomainError('unavailable', 'DATABASE_UNAVAILABLE', 'the database is unavailable', { retryAfter: 1 })
  }
  const rejected = await post('1')
  expect([rejected.status, handled]).toEqual([503, []])
  expect(rejected.headers.get('retry-after')).toBe('1')
  expect((await fetch(`${gateway.url}/v2/thing/1`)).status).toBe(200)
  standIns.beforeAppend = async () => {}
  expect((await post('1')).status).toBe(201)
})

test('a write returns 503 if the audit log does not respond in time, and is not handled later', async () => {
  let release = () => {}
  standIns.beforeAppend = () => new Promise<void>((resolve) => (release = resolve))
  const response = await post('1')
  expect([response.status, handled]).toEqual([503, []])
  release()
})

test('entries of concurrent writes are sent in few calls', async () => {
  const calls = standIns.audit.length
  const responses = await Promise.all(Array.from({ length: 100 }, (_, n) => post('1', { 'x-request-id': `many-${n}` })))
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([201]))
  const ids = responses.map((_, n) => listEntries(`many-${n}`)[0]?.entryId)
  expect(new Set(ids).size).toBe(100)
  await waitForOutcome('many-99')
  expect(standIns.audit.length - calls).toBeLessThan(60)
})

test('an outcome waits while the audit log is unavailable, and is sent when it is available again', async () => {
  during = async () => {
    standIns.beforeAppend = async () => {
      throw new DomainError('unavailable', 'DATABASE_UNAVAILABLE', 'the database is unavailable', { retryAfter: 1 })
    }
  }
  expect((await post('1', { 'x-request-id': 'late' })).status).toBe(201)
  standIns.beforeAppend = async () => {}
  expect(await waitForOutcome('late')).toMatchObject({ status: 201 })
})

test('a write is not handled if its client disconnects before the entry is stored', async () => {
  let release = () => {}
  let requested = false
  standIns.beforeAppend = () =>
    new Promise<void>((resolve) => {
      requested = true
      release = resolve
    })
  const abort = new AbortController()
  const deleted = fetch(`${gateway.url}/v2/thing/1`, {
    method: 'POST',
    body: '{"colour":"red"}',
    headers: { 'content-type': 'application/json', 'x-request-id': 'gone' },
    signal: abort.signal,
  }).catch(() => 'gone')
  await waitFor(() => requested)
  abort.abort()
  expect(await deleted).toBe('gone')
  release()
  standIns.beforeAppend = async () => {}
  await waitFor(() => listEntries('gone').length === 1)
  expect(await waitForOutcome('gone')).toMatchObject({ status: 499 })
  expect(handled).toEqual([])
})
