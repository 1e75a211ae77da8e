// Faults: A3, A15
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { DomainError } from '@vitascope/errors'
import { extendTimeout, freePort, waitFor } from '@vitascope/testing'
import { sendRaw, statuses } from './raw-request.ts'
import { sampleRoutes } from './sample-routes.ts'
import { nextApiKey, type StandInKey, type StandIns, startStandIns } from './stand-ins.ts'
import { startTestGateway, startUnconnectedGateway, withKey } from './started-gateway.ts'

const allResources = ['sample::get', 'sample::post', 'sample::delete']
const keyRecord = (more: Partial<StandInKey> = {}): StandInKey => ({
  keyId: String(++keyIds),
  userType: 'uploader',
  organisationId: '2',
  resources: allResources,
  ...more,
})
let keyIds = 0
let standIns: StandIns
let gateway: Awaited<ReturnType<typeof startTestGateway>>
const open: (() => Promise<void>)[] = []

beforeAll(async () => {
  standIns = await startStandIns()
  gateway = await startTestGateway(sampleRoutes, { authAddress: standIns.address, catalogueAddress: standIns.address })
  await waitFor(() => standIns.watchers() === 1, { describe: 'the gateway to subscribe to revocations' })
})
afterEach(async () => {
  standIns.authFailure = undefined
  for (const stop of open.splice(0)) await stop()
})
afterAll(async () => {
  await gateway.stop()
  await standIns.stop()
})

function registerKey(more: Partial<StandInKey> = {}): string {
  const key = nextApiKey()
  standIns.keys.set(key, keyRecord(more))
  return key
}

const get = (path: string, headers: Record<string, string> = {}) => fetch(`${gateway.url}${path}`, { headers })
async function statusAndCode(response: Response): Promise<[number, unknown]> {
  return [response.status, ((await response.json()) as { code: unknown }).code]
}

describe('a key', () => {
  test('is accepted as Basic or as Bearer', async () => {
    const key = registerKey()
    const basic = Buffer.from(`${key}:x`).toString('base64')
    for (const authorization of [`Basic ${basic}`, `basic  ${basic}`, `Bearer ${key}`, `Basic ${basic.replace(/=+$/, '')}`]) {
      const response = await get('/v2/sample/1', { authorization })
      expect(await response.json()).toMatchObject({ caller: 'user' })
    }
  })

  const good = nextApiKey()
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  test.each([
    ['nothing', ''],
    ['a scheme only', 'Basic'],
    ['an unknown scheme', `Digest ${good}`],
    ['no colon', `Basic ${base64(good)}`],
    ['an empty key', `Basic ${base64(':x')}`],
    ['an empty password', `Basic ${base64(`${good}:`)}`],
    ['another password', `Basic ${base64(`${good}:y`)}`],
    ['a second colon', `Basic ${base64(`${good}:x:x`)}`],
    ['invalid base64', `Basic ${base64(`${good}:x`)}!`],
    ['base64 with trailing characters', `Basic ${base64(`${good}:x`)}=A`],
    ['a wrong checksum', `Bearer ${good.slice(0, -1)}${good.endsWith('a') ? 'b' : 'a'}`],
    ['a short text', 'Bearer abc'],
    ['two words', `Bearer ${good} ${good}`],
    ['another character set', `Bearer ${'ä'.repeat(30)}`],
  ])('is rejected with 401, without a look-up and on public paths too: %s', async (_, authorization) => {
    standIns.lookups.length = 0
    for (const path of ['/v2/sample/1', '/v2/sample/all']) {
      const raw = await sendRaw(
        gateway.address,
        Buffer.from(`GET ${path} HTTP/1.1\r\nHost: h\r\nAuthorization: ${authorization}\r\n\r\n`, 'utf8'),
      )
      expect(statuses(raw)).toEqual([401])
      expect(raw).toContain('WWW-Authenticate: Basic realm="Vitascope"')
      expect(raw).toContain('"code":"key_malformed"')
    }
    expect(standIns.lookups).toEqual([])
  })

  test('is rejected with 401 if it is sent twice, and with 431 if it has 64 KB', async () => {
    const header = `Authorization: Bearer ${registerKey()}`
    const twice = `GET /v2/sample/1 HTTP/1.1\r\nHost: h\r\n${header}\r\n${header}\r\n\r\n`
    expect(statuses(await sendRaw(gateway.address, twice))).toEqual([401])
    const long = `GET /v2/sample/1 HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${'a'.repeat(65_536)}\r\n\r\n`
    expect(statuses(await sendRaw(gateway.address, long))).toEqual([431])
  })

  test('is rejected with 401 if it is unknown, with at most one look-up per second', async () => {
    standIns.lookups.length = 0
    const key = nextApiKey()
    const responses = [await get('/v2/sample/1', withKey(key)), await get('/v2/sample/all', withKey(key))]
    expect(await Promise.all(responses.map(statusAndCode))).toEqual([
      [401, 'key_unknown'],
      [401, 'key_unknown'],
    ])
    expect(standIns.lookups).toEqual([key])
  })

  test('is looked up once for concurrent requests', async () => {
    standIns.lookups.length = 0
    const key = registerKey()
    await Promise.all(Array.from({ length: 20 }, () => get('/v2/sample/1', withKey(key))))
    expect(standIns.lookups).toEqual([key])
  })

  test('in the query is accepted only on routes that declare it', async () => {
    const key = registerKey({ userType: 'system' })
    expect((await get(`/v2/sample/script?callback=f&api_key=${key}`)).status).toBe(200)
    expect((await get('/v2/sample/script?callback=f', withKey(key))).status).toBe(200)
    expect((await get(`/v2/sample/script?callback=f&api_key=${key}`, withKey(key))).status).toBe(401)
    expect((await get(`/v2/sample/script?callback=f&api_key=${key}&api_key=${key}`)).status).toBe(400)
    expect(await statusAndCode(await get('/v2/sample/script?callback=f'))).toEqual([401, 'key_required'])
    expect(await statusAndCode(await get(`/v2/sample/script?api_key=${registerKey()}`))).toEqual([403, 'system_only'])
    expect((await get(`/v2/sample/all?api_key=${key}`)).status).toBe(401)
  })

  test('results in 503, not 401, if its look-up fails', async () => {
    standIns.authFailure = new DomainError('unavailable', 'DATABASE_UNAVAILABLE', 'the database is unavailable', { retryAfter: 2 })
    const response = await get('/v2/sample/all', withKey(registerKey()))
    expect(response.headers.get('retry-after')).toBe('2')
    expect(await statusAndCode(response)).toEqual([503, 'database_unavailable'])
  })

  test('of an inactive organisation is rejected with 403', async () => {
    standIns.authFailure = new DomainError('forbidden', 'ORGANISATION_INACTIVE', 'the organisation is inactive')
    expect(await statusAndCode(await get('/v2/sample/1', withKey(registerKey())))).toEqual([403, 'organisation_inactive'])
  })
})

describe('a session', () => {
  test('of an inactive organisation is rejected with 403, and is a guest on public paths', async () => {
    standIns.authFailure = new DomainError('forbidden', 'ORGANISATION_INACTIVE', 'the organisation is inactive')
    const headers = { cookie: `vitascope-session=${registerKey({ userType: 'standard' })}` }
    expect(await statusAndCode(await get('/v2/sample/all', headers))).toEqual([403, 'organisation_inactive'])
    const response = await get('/v2/sample/1', headers)
    expect([response.status, await response.json()]).toMatchObject([200, { caller: 'guest' }])
  })
})

describe('access', () => {
  test.each([
    ['/v2/sample/all', undefined, 401, 'key_required'],
    ['/v2/sample/all', 'uploader', 403, 'super_user_only'],
    ['/v2/sample/all', 'standard', 200, undefined],
    ['/v2/sample/all', 'system', 200, undefined],
    ['DELETE /v2/sample/1', 'standard', 403, 'system_only'],
    ['DELETE /v2/sample/1', 'system', 200, undefined],
  ] as const)('to %s as %s returns %i', async (requested, userType, status, code) => {
    const [path = '', method = 'GET'] = requested.split(' ').reverse()
    const headers = userType === undefined ? {} : withKey(registerKey({ userType }))
    const response = await fetch(`${gateway.url}${path}`, { method, headers })
    expect([response.status, ((await response.json()) as { code?: string }).code]).toEqual([status, code])
  })

  test('without the resource returns 403 and names the resource, for system keys too', async () => {
    const response = await get('/v2/sample/all', withKey(registerKey({ userType: 'system', resources: ['sample::post'] })))
    const problem = await response.json()
    expect(problem).toMatchObject({ status: 403, code: 'missing_resource', detail: expect.stringContaining('sample::get') })
  })

  test('to a public path without the resource is that of a guest', async () => {
    const response = await get('/v2/sample/1', withKey(registerKey({ resources: [] })))
    expect(await response.json()).toMatchObject({ caller: 'guest' })
  })

  test('is checked before the payload is parsed', async () => {
    const send = (headers: Record<string, string>) => fetch(`${gateway.url}/v2/sample`, { method: 'POST', headers, body: '{' })
    expect((await send({})).status).toBe(401)
    expect((await send(withKey(registerKey({ resources: [] })))).status).toBe(403)
    expect((await send({ ...withKey(registerKey()), 'content-type': 'application/json' })).status).toBe(400)
  })
})

// Keys are cached for 5 s. A rejection within 4 s is an effect of the revocation stream or of the
// expiry.
describe('a cached key', () => {
  const expectRejectedSoon = async (key: string) => {
    const startedMs = performance.now()
    await waitFor(async () => (await get('/v2/sample/1', withKey(key))).status === 401, { timeout: 10_000, interval: 20 })
    expect(performance.now() - startedMs).toBeLessThan(extendTimeout(4_000))
  }

  test('stops working when auth reports its revocation', async () => {
    const key = registerKey({ keyId: 'revoked' })
    expect((await get('/v2/sample/1', withKey(key))).status).toBe(200)
    standIns.keys.delete(key)
    expect((await get('/v2/sample/1', withKey(key))).status).toBe(200)
    standIns.revoke('revoked')
    await expectRejectedSoon(key)
  })

  test('stops working when the revocation stream ends', async () => {
    const key = registerKey()
    expect((await get('/v2/sample/1', withKey(key))).status).toBe(200)
    standIns.keys.delete(key)
    standIns.revoke()
    await expectRejectedSoon(key)
    await waitFor(() => standIns.watchers() === 1, { describe: 'the gateway to subscribe again' })
  })

  test('stops working at its expiry', async () => {
    const key = registerKey({ expireTime: new Date(Date.now() + 2_000) })
    expect((await get('/v2/sample/1', withKey(key))).status).toBe(200)
    standIns.keys.delete(key)
    await expectRejectedSoon(key)
  })
})

test('the resources of the route table are registered when auth becomes available, and again after its restart', async () => {
  const address = `127.0.0.1:${await freePort()}`
  const alone = await startUnconnectedGateway(sampleRoutes, { authAddress: address })
  open.push(alone.stop)
  for (let time = 0; time < 2; time++) {
    const auth = await startStandIns(address)
    await waitFor(() => auth.registered.length > 0, { describe: 'the resources to be registered' })
    expect(auth.registered).toEqual(['sample::delete', 'sample::get', 'sample::post'])
    await auth.stop()
  }
})
