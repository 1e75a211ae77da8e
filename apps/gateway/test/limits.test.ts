import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { parseAddressRules } from '@vitascope/access'
import { DomainError } from '@vitascope/errors'
import { DEFAULT_LIMITS } from '../src/limits/limits.ts'
import { sampleRoutes } from './sample-routes.ts'
import { aKey, type StandIns, startStandIns } from './stand-ins.ts'
import { startTestGateway, testPrincipalKey, withKey } from './started-gateway.ts'

let standIns: StandIns
let gateway: Awaited<ReturnType<typeof startTestGateway>>
const key = aKey()

beforeAll(async () => {
  standIns = await startStandIns(testPrincipalKey)
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

const ask = (path: string, address: string, headers: Record<string, string> = {}) =>
  fetch(`${gateway.url}${path}`, { headers: { 'x-forwarded-for': address, ...headers } })
async function statusesOf(times: number, send: () => Promise<Response>): Promise<number[]> {
  const found: number[] = []
  for (let i = 0; i < times; i++) found.push((await send()).status)
  return found
}

test('a guest’s budget is that of the address, which only the trusted proxy tells', async () => {
  expect(await statusesOf(6, () => ask('/v2/sample/1', '203.0.113.1'))).toEqual([200, 200, 200, 200, 429, 429])
  expect(await statusesOf(1, () => ask('/v2/sample/1', '1.2.3.4, 203.0.113.1'))).toEqual([429])
  expect(await statusesOf(1, () => ask('/v2/sample/1', '203.0.113.2'))).toEqual([200])
})

test('a key’s budget is its own, wherever it comes from', async () => {
  let next = 0
  const found = await statusesOf(10, () => ask('/v2/sample/1', `203.0.114.${next++}`, withKey(key)))
  expect(found.filter((status) => status === 200)).toHaveLength(8)
})

test('429 says when to try again', async () => {
  let response = await ask('/v2/sample/1', '203.0.113.3')
  expect(response.headers.get('ratelimit-policy')).toBe('"address";q=4;w=4')
  expect(response.headers.get('ratelimit')).toMatch(/^"address";r=3;t=\d$/)
  while (response.status === 200) response = await ask('/v2/sample/1', '203.0.113.3')
  expect(response.headers.get('retry-after')).toMatch(/^[1-4]$/)
  expect(response.headers.get('ratelimit')).toMatch(/^"address";r=0;t=\d$/)
  expect(await response.json()).toMatchObject({ status: 429, code: 'rate_limited' })
})

test('keys that turn out bad are looked up only so often, and a good one that is known still works', async () => {
  await ask('/v2/sample/all', '203.0.113.4', withKey(key))
  standIns.lookUps.length = 0
  expect(await statusesOf(8, () => ask('/v2/sample/all', '203.0.113.4', withKey(aKey())))).toEqual([401, 401, 401, 401, 429, 429, 429, 429])
  expect(standIns.lookUps).toHaveLength(4)
  expect([200, 429]).toContain((await ask('/v2/sample/all', '203.0.113.4', withKey(key))).status)
})

test('so are guesses at a system key of a form of its own, which auth calls malformed', async () => {
  standIns.authFailure = new DomainError('unauthenticated', 'KEY_MALFORMED', 'this is no key of ours')
  const answers = []
  for (let i = 0; i < 5; i++) answers.push(await ask('/v2/sample/all', '203.0.113.6', withKey(`guess_at_the_system_key_${i}`)))
  standIns.authFailure = undefined
  expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 429])
  expect(answers[4]?.headers.get('ratelimit-policy')).toBe('"failed";q=4;w=4')
})

test('pages beside /v2 have no limit', async () => {
  expect(new Set(await statusesOf(20, () => ask('/healthz', '203.0.113.5')))).toEqual(new Set([200]))
  expect(new Set(await statusesOf(20, () => ask('/player/1', '203.0.113.5')))).toEqual(new Set([404]))
})
