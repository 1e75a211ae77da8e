// Faults: A12, A13
import { createHash } from 'node:crypto'
import { Writable } from 'node:stream'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { DomainError } from '@vitascope/errors'
import { createGrpcServer, type GrpcServer } from '@vitascope/grpc'
import { type CheckVideoPasswordRequest, SettingServiceService } from '@vitascope/proto/catalogue/v1/setting'
import { createMetrics } from '@vitascope/telemetry'
import { testLog } from '@vitascope/testing'
import { testPrincipals } from '@vitascope/testing/principal-keys'
import { pino } from 'pino'
import { videoPasswordRoutes } from '../src/api/video/video-password-routes.ts'
import { startTestGateway } from './started-gateway.ts'

const sha1 = (text: string) => createHash('sha1').update(text).digest('hex')
const lines: string[] = []
const log = pino(
  { level: 'trace' },
  new Writable({
    write(line, _encoding, done) {
      lines.push(String(line))
      done()
    },
  }),
)

let catalogue: GrpcServer
let gateway: Awaited<ReturnType<typeof startTestGateway>>
let matches: (request: CheckVideoPasswordRequest) => boolean
const requested: CheckVideoPasswordRequest[] = []
let next = 1
/** Unique for each test, because attempts are counted per video. */
let video: string

beforeAll(async () => {
  catalogue = createGrpcServer({ principals: testPrincipals(), log: testLog, metrics: createMetrics('catalogue') })
  catalogue.implement(
    { checkVideoPassword: SettingServiceService.checkVideoPassword },
    {
      async checkVideoPassword(request) {
        requested.push(request)
        return { matches: matches(request) }
      },
    },
  )
  const catalogueAddress = await catalogue.listen('127.0.0.1:0')
  gateway = await startTestGateway(videoPasswordRoutes, { catalogueAddress, limits: 'off' }, log)
})
afterAll(async () => {
  await gateway.stop()
  await catalogue.drain(0)
})
beforeEach(() => {
  video = String(next++)
  requested.length = 0
  lines.length = 0
  matches = ({ password }) => password === sha1('correct horse 🐎/?')
})

const attempt = (password: string, init?: RequestInit) =>
  fetch(`${gateway.url}/v2/video/${video}/password/${encodeURIComponent(password)}`, init)

test('only the raw password matches, and only its digest is sent to the catalogue', async () => {
  const right = await attempt('correct horse 🐎/?')
  expect([right.status, await right.json()]).toEqual([200, [true]])
  expect(right.headers.get('cache-control')).toBe('no-store')
  for (const wrong of ['wrong', sha1('correct horse 🐎/?'), sha1('correct horse 🐎/?').toUpperCase(), 'CORRECT HORSE 🐎/?']) {
    expect(await (await attempt(wrong)).json()).toEqual([false])
  }
  expect(requested.map(({ videoId }) => videoId)).toEqual(Array(5).fill(video))
  expect(requested.every(({ password }) => /^[0-9a-f]{40}$/.test(password))).toBe(true)
})

test('the eleventh attempt per minute is rejected without a check, even if all other limits are off', async () => {
  const responses = []
  for (let i = 0; i < 12; i++) responses.push(await attempt(`guess ${i}`))
  expect(responses.map(({ status }) => status)).toEqual([...Array(10).fill(200), 429, 429])
  const rejected = responses[11]
  expect(Number(rejected?.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(rejected?.headers.get('ratelimit-policy')).toBe('"password";q=10;w=60')
  expect(await rejected?.json()).toMatchObject({ code: 'rate_limited', status: 429 })
  expect(requested).toHaveLength(10)
})

test('HEAD counts as an attempt', async () => {
  for (let i = 0; i < 10; i++) expect((await attempt('a', { method: 'HEAD' })).status).toBe(200)
  expect((await attempt('a')).status).toBe(429)
})

test('problems and logs never contain a password', async () => {
  const secret = 'a-secret-of-this-test'
  const problems = []
  matches = () => {
    throw new DomainError('not_found', 'VIDEO_NOT_FOUND', `no video, with ${secret}`)
  }
  problems.push(await attempt(secret))
  matches = () => {
    throw new Error(`broken at ${secret}`)
  }
  problems.push(await attempt(secret), await attempt(secret, { method: 'POST' }), await attempt(`${secret}\0`))
  problems.push(await attempt('1234567890123'), await attempt(secret.padEnd(1_001, 'x')))
  expect(problems.map(({ status }) => status)).toEqual([404, 500, 405, 400, 500, 400])
  const bodies = (await Promise.all(problems.map((response) => response.text()))).join('\n')
  expect(bodies).toContain(`/v2/video/${video}/password/:password`)
  expect(`${bodies}\n${lines.join('\n')}`).not.toMatch(/a-secret-of|1234567890123/)
  expect(lines.join('\n')).toContain('/v2/video/:videoId/password/:password')
})
