import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { DomainError } from '@vitascope/errors'
import { freePort, waitFor } from '@vitascope/testing'
import { sendRaw, statuses } from './raw-request.ts'
import { sampleRoutes } from './sample-routes.ts'
import { aKey, type StandInKey, type StandIns, startStandIns } from './stand-ins.ts'
import { startTestGateway, withKey } from './started-gateway.ts'

const everything = ['sample::get', 'sample::post', 'sample::delete']
const holder = (more: Partial<StandInKey> = {}): StandInKey => ({
  keyId: String(++keyIds),
  userType: 'uploader',
  organisationId: '2',
  resources: everything,
  ...more,
})
let keyIds = 0
let standIns: StandIns
let gateway: Awaited<ReturnType<typeof startTestGateway>>
const open: (() => Promise<void>)[] = []

beforeAll(async () => {
  standIns = await startStandIns()
  gateway = await startTestGateway(sampleRoutes, { authAddress: standIns.address, catalogueAddress: standIns.address })
  await waitFor(() => standIns.watchers() === 1, { describe: 'the gateway to listen to revocations' })
})
afterEach(async () => {
  standIns.authFailure = undefined
  for (const stop of open.splice(0)) await stop()
})
afterAll(async () => {
  await gateway.stop()
  await standIns.stop()
})

function keyOf(more: Partial<StandInKey> = {}): string {
  const key = aKey()
  standIns.keys.set(key, holder(more))
  return key
}

const get = (path: string, headers: Record<string, string> = {}) => fetch(`${gateway.url}${path}`, { headers })
async function refused(response: Response): Promise<[number, unknown]> {
  return [response.status, ((await response.json()) as { code: unknown }).code]
}

describe('a key', () => {
  test('comes as Basic or as Bearer', async () => {
    const key = keyOf()
    const basic = Buffer.from(`${key}:x`).toString('base64')
    for (const authorization of [`Basic ${basic}`, `basic  ${basic}`, `Bearer ${key}`, `Basic ${basic.replace(/=+$/, '')}`]) {
      const response = await get('/v2/sample/1', { authorization })
      expect(await response.json()).toMatchObject({ caller: 'user' })
    }
  })

  const good = aKey()
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  test.each([
    ['nothing', ''],
    ['a scheme alone', 'Basic'],
    ['an unknown scheme', `Digest ${good}`],
    ['no colon', `Basic ${base64(good)}`],
    ['an empty key', `Basic ${base64(':x')}`],
    ['an empty password', `Basic ${base64(`${good}:`)}`],
    ['another password', `Basic ${base64(`${good}:y`)}`],
    ['a second colon', `Basic ${base64(`${good}:x:x`)}`],
    ['no base64', `Basic ${base64(`${good}:x`)}!`],
    ['base64 with junk at its end', `Basic ${base64(`${good}:x`)}=A`],
    ['a wrong checksum', `Bearer ${good.slice(0, -1)}${good.endsWith('a') ? 'b' : 'a'}`],
    ['a short text', 'Bearer abc'],
    ['two words', `Bearer ${good} ${good}`],
    ['another character set', `Bearer ${'ä'.repeat(30)}`],
  ])('that is %s is 401, on public paths too, and is not looked up', async (_, authorization) => {
    standIns.lookUps.length = 0
    for (const path of ['/v2/sample/1', '/v2/sample/all']) {
      const raw = await sendRaw(
        gateway.address,
        Buffer.from(`GET ${path} HTTP/1.1\r\nHost: h\r\nAuthorization: ${authorization}\r\n\r\n`, 'utf8'),
      )
      expect(statuses(raw)).toEqual([401])
      expect(raw).toContain('WWW-Authenticate: Basic realm="Vitascope"')
      expect(raw).toContain('"code":"key_malformed"')
    }
    expect(standIns.lookUps).toEqual([])
  })

  test('that comes twice is 401, and one of 64 KB is 431', async () => {
    const header = `Authorization: Bearer ${keyOf()}`
    const twice = `GET /v2/sample/1 HTTP/1.1\r\nHost: h\r\n${header}\r\n${header}\r\n\r\n`
    expect(statuses(await sendRaw(gateway.address, twice))).toEqual([401])
    const long = `GET /v2/sample/1 HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${'a'.repeat(65_536)}\r\n\r\n`
    expect(statuses(await sendRaw(gateway.address, long))).toEqual([431])
  })

  test('that is unknown is 401, and is looked up at most once a second', async () => {
    standIns.lookUps.length = 0
    const key = aKey()
    const answers = [await get('/v2/sample/1', withKey(key)), await get('/v2/sample/all', withKey(key))]
    expect(await Promise.all(answers.map(refused))).toEqual([
      [401, 'key_unknown'],
      [401, 'key_unknown'],
    ])
    expect(standIns.lookUps).toEqual([key])
  })

  test('is looked up once for many requests at a time', async () => {
    standIns.lookUps.length = 0
    const key = keyOf()
    await Promise.all(Array.from({ length: 20 }, () => get('/v2/sample/1', withKey(key))))
    expect(standIns.lookUps).toEqual([key])
  })

  test('in the query counts where the route says so, and there alone', async () => {
    const key = keyOf({ userType: 'system' })
    expect((await get(`/v2/sample/script?callback=f&api_key=${key}`)).status).toBe(200)
    expect((await get('/v2/sample/script?callback=f', withKey(key))).status).toBe(200)
    expect((await get(`/v2/sample/script?callback=f&api_key=${key}`, withKey(key))).status).toBe(401)
    expect((await get(`/v2/sample/script?callback=f&api_key=${key}&api_key=${key}`)).status).toBe(400)
    expect(await refused(await get('/v2/sample/script?callback=f'))).toEqual([401, 'key_required'])
    expect(await refused(await get(`/v2/sample/script?api_key=${keyOf()}`))).toEqual([403, 'system_only'])
    expect((await get(`/v2/sample/all?api_key=${key}`)).status).toBe(401)
  })

  test('that could not be looked up is 503, not 401', async () => {
    standIns.authFailure = new DomainError('unavailable', 'DATABASE_UNAVAILABLE', 'the database is away', { retryAfter: 2 })
    const response = await get('/v2/sample/all', withKey(keyOf()))
    expect(response.headers.get('retry-after')).toBe('2')
    expect(await refused(response)).toEqual([503, 'database_unavailable'])
  })

  test('of an inactive organisation is 403', async () => {
    standIns.authFailure = new DomainError('forbidden', 'ORGANISATION_INACTIVE', 'the organisation is inactive')
    expect(await refused(await get('/v2/sample/1', withKey(keyOf())))).toEqual([403, 'organisation_inactive'])
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
  ] as const)('%s as %s answers %i', async (requested, userType, status, code) => {
    const [path = '', method = 'GET'] = requested.split(' ').reverse()
    const headers = userType === undefined ? {} : withKey(keyOf({ userType }))
    const response = await fetch(`${gateway.url}${path}`, { method, headers })
    expect([response.status, ((await response.json()) as { code?: string }).code]).toEqual([status, code])
  })

  test('without the resource is 403 and names it, system keys too', async () => {
    const response = await get('/v2/sample/all', withKey(keyOf({ userType: 'system', resources: ['sample::post'] })))
    const problem = await response.json()
    expect(problem).toMatchObject({ status: 403, code: 'missing_resource', detail: expect.stringContaining('sample::get') })
  })

  test('to a public path without the resource is a guest’s', async () => {
    const response = await get('/v2/sample/1', withKey(keyOf({ resources: [] })))
    expect(await response.json()).toMatchObject({ caller: 'guest' })
  })

  test('comes before the payload is looked at', async () => {
    const send = (headers: Record<string, string>) => fetch(`${gateway.url}/v2/sample`, { method: 'POST', headers, body: '{' })
    expect((await send({})).status).toBe(401)
    expect((await send(withKey(keyOf({ resources: [] })))).status).toBe(403)
    expect((await send({ ...withKey(keyOf()), 'content-type': 'application/json' })).status).toBe(400)
  })
})

// An answer of auth is kept for 5 s: what happens sooner is what the stream does.
describe('a revoked key', () => {
  test('stops working as soon as auth says so', async () => {
    const key = keyOf({ keyId: 'revoked' })
    expect((await get('/v2/sample/1', withKey(key))).status).toBe(200)
    standIns.keys.delete(key)
    expect((await get('/v2/sample/1', withKey(key))).status).toBe(200)
    standIns.revoke('revoked')
    await waitFor(async () => (await get('/v2/sample/1', withKey(key))).status === 401, { timeout: 4_000 })
  })

  test('stops working when the stream of revocations ends', async () => {
    const key = keyOf()
    expect((await get('/v2/sample/1', withKey(key))).status).toBe(200)
    standIns.keys.delete(key)
    standIns.revoke()
    await waitFor(async () => (await get('/v2/sample/1', withKey(key))).status === 401, { timeout: 4_000 })
    await waitFor(() => standIns.watchers() === 1, { describe: 'the gateway to listen again' })
  })

  test('stops working at its expiry', async () => {
    const key = keyOf({ expireTime: new Date(Date.now() + 300) })
    expect((await get('/v2/sample/1', withKey(key))).status).toBe(200)
    standIns.keys.delete(key)
    await waitFor(async () => (await get('/v2/sample/1', withKey(key))).status === 401, { timeout: 4_000 })
  })
})

test('the resources of the table are registered when auth comes, and again when it comes back', async () => {
  const address = `127.0.0.1:${await freePort()}`
  const alone = await startTestGateway(sampleRoutes, { authAddress: address })
  open.push(alone.stop)
  for (let time = 0; time < 2; time++) {
    const auth = await startStandIns(address)
    await waitFor(() => auth.registered.length > 0, { describe: 'the resources to be registered' })
    expect(auth.registered).toEqual(['sample::delete', 'sample::get', 'sample::post'])
    await auth.stop()
  }
})
