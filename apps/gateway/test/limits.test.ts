// Faults: K16
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { DomainError } from '@vitascope/errors'
import { DEFAULT_LIMITS } from '@vitascope/rate-limit'
import { parseAddressRules } from '@vitascope/security'
import { waitFor } from '@vitascope/testing'
import { sampleRoutes } from './sample-routes.ts'
import { nextApiKey, type StandIns, startStandIns } from './stand-ins.ts'
import { startTestGateway, withKey } from './started-gateway.ts'

let standIns: StandIns
let gateway: Awaited<ReturnType<typeof startTestGateway>>
const key = nextApiKey()

beforeAll(async () => {
  standIns = await startStandIns()
  standIns.keys.set(key, { keyId: '1', userType: 'system', organisationId: '1', resources: ['sample::get'] })
  gateway = await startTestGateway(sampleRoutes, {
    authAddress: standIns.address,
    limits: { ...DEFAULT_LIMITS, key: 2, address: 1, failed: 1, burst: 4 },
    trustedProxies: parseAddressRules(['127.0.0.1']).rules ?? [],
  })
})
afterAll(async () => {
  await gateway.stop()
  await standIns.stop()
})

const call = (path: string, address: string, headers: Record<string, string> = {}) =>
  fetch(`${gateway.url}${path}`, { headers: { 'x-forwarded-for': address, ...headers } })
async function collectStatuses(times: number, send: () => Promise<Response>): Promise<number[]> {
  const statuses: number[] = []
  for (let i = 0; i < times; i++) statuses.push((await send()).status)
  return statuses
}

test('the budget of a guest belongs to the address that the trusted proxy sends', async () => {
  expect(await collectStatuses(6, () => call('/v2/sample/1', '203.0.113.1'))).toEqual([200, 200, 200, 200, 429, 429])
  expect(await collectStatuses(1, () => call('/v2/sample/1', '1.2.3.4, 203.0.113.1'))).toEqual([429])
  expect(await collectStatuses(1, () => call('/v2/sample/1', '203.0.113.2'))).toEqual([200])
})

test('the budget of a key is independent of the client address', async () => {
  let next = 0
  const statuses = await collectStatuses(10, () => call('/v2/sample/1', `203.0.114.${next++}`, withKey(key)))
  expect(statuses.filter((status) => status === 200)).toHaveLength(8)
})

test('429 has Retry-After', async () => {
  let response = await call('/v2/sample/1', '203.0.113.3')
  expect(response.headers.get('ratelimit-policy')).toBe('"address";q=4;w=4')
  expect(response.headers.get('ratelimit')).toMatch(/^"address";r=3;t=\d$/)
  while (response.status === 200) response = await call('/v2/sample/1', '203.0.113.3')
  expect(response.headers.get('retry-after')).toMatch(/^[1-4]$/)
  expect(response.headers.get('ratelimit')).toMatch(/^"address";r=0;t=\d$/)
  expect(await response.json()).toMatchObject({ status: 429, code: 'rate_limited' })
})

const sendBadKeys = (times: number, address: string) => collectStatuses(times, () => call('/v2/sample/all', address, withKey(nextApiKey())))
function addKey(): string {
  const fresh = nextApiKey()
  standIns.keys.set(fresh, { keyId: String(standIns.keys.size + 1), userType: 'system', organisationId: '1', resources: ['sample::get'] })
  return fresh
}

test('invalid keys above the budget return 429, with a limited number of look-ups', async () => {
  standIns.lookups.length = 0
  const statuses = await sendBadKeys(50, '203.0.113.4')
  expect(statuses.slice(0, 4)).toEqual([401, 401, 401, 401])
  expect(new Set(statuses.slice(4))).toEqual(new Set([429]))
  // 4 bad keys, and 40 look-ups beyond them.
  expect(standIns.lookups).toHaveLength(44)
})

test('a valid, unused key works although its address sent many invalid keys', async () => {
  expect((await sendBadKeys(20, '203.0.113.7')).at(-1)).toBe(429)
  expect((await call('/v2/sample/all', '203.0.113.7', withKey(addKey()))).status).toBe(200)
})

test('a cached key works although its address has no look-ups left', async () => {
  const good = addKey()
  const send = () => call('/v2/sample/all', '203.0.113.8', withKey(good))
  expect((await send()).status).toBe(200)
  expect((await sendBadKeys(60, '203.0.113.8')).at(-1)).toBe(429)
  // Changed keys are looked up again.
  standIns.revoke(standIns.keys.get(good)?.keyId ?? '')
  standIns.lookups.length = 0
  await waitFor(async () => (await send()).status === 200 && standIns.lookups.includes(good), { describe: 'the key to be looked up again' })
  expect((await call('/v2/sample/all', '203.0.113.8', withKey(addKey()))).status).toBe(429)
})

test('keys that auth calls malformed use the budget of failed keys', async () => {
  standIns.authFailure = new DomainError('unauthenticated', 'KEY_MALFORMED', 'malformed key')
  const responses = []
  for (let i = 0; i < 5; i++) responses.push(await call('/v2/sample/all', '203.0.113.6', withKey(`guess_at_the_system_key_${i}`)))
  standIns.authFailure = undefined
  expect(responses.map(({ status }) => status)).toEqual([401, 401, 401, 401, 429])
  expect(responses[4]?.headers.get('ratelimit-policy')).toBe('"failed";q=4;w=4')
})

test('pages outside /v2 do not use the budgets of /v2', async () => {
  expect(new Set(await collectStatuses(20, () => call('/healthz', '203.0.113.5')))).toEqual(new Set([200]))
  expect(new Set(await collectStatuses(20, () => call('/player/1', '203.0.113.5')))).toEqual(new Set([404]))
})
