// Faults: A11
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { DEFAULT_LIMITS } from '@vitascope/rate-limit'
import { extendTimeout, recordFigure, redisPath, startRedis, type TestRedis, waitFor } from '@vitascope/testing'
import { Redis } from 'ioredis'
import { sampleRoutes } from './sample-routes.ts'
import { nextApiKey, type StandIns, startStandIns } from './stand-ins.ts'
import { startTestGateway, withKey } from './started-gateway.ts'

type Gateway = Awaited<ReturnType<typeof startTestGateway>>
const withRedis = redisPath() === undefined ? describe.skip : describe

withRedis('two gateways with one Redis', () => {
  let redis: TestRedis
  let admin: Redis
  let standIns: StandIns
  let gateways: Gateway[]
  let key: string
  let keys = 0
  beforeAll(async () => {
    redis = await startRedis()
    admin = new Redis(redis.url, { retryStrategy: () => 50 })
    admin.on('error', () => {})
    standIns = await startStandIns()
    const start = () =>
      startTestGateway(sampleRoutes, {
        authAddress: standIns.address,
        redisUrl: redis.url,
        limits: { ...DEFAULT_LIMITS, key: 1, address: 1_000, burst: 10 },
      })
    gateways = [await start(), await start()]
    await waitUntilShared()
  })
  beforeEach(() => {
    key = nextApiKey()
    standIns.keys.set(key, { keyId: String(++keys), userType: 'system', organisationId: '1', resources: ['sample::get'] })
  })
  afterEach(async () => {
    await waitFor(async () => (await admin.ping()) === 'PONG', { timeout: 20_000, describe: 'Redis to be available' })
    await waitUntilShared()
  })
  afterAll(async () => {
    admin?.disconnect()
    for (const gateway of gateways ?? []) await gateway.stop()
    await standIns?.stop()
    await redis?.stop()
  })

  const call = (gateway: number, sent = key) => fetch(`${gateways[gateway]?.url}/v2/sample/1`, { headers: withKey(sent) })
  const readRemaining = async (gateway: number, sent = key) => {
    const response = await call(gateway, sent)
    await response.arrayBuffer()
    return Number(/r=(\d+)/.exec(response.headers.get('ratelimit') ?? '')?.[1])
  }
  /** Waits until both gateways use Redis and share their counts. */
  const waitUntilShared = () => waitFor(isShared, { timeout: 20_000, describe: 'both gateways to share their counts' })
  async function isShared(): Promise<boolean> {
    const fresh = nextApiKey()
    standIns.keys.set(fresh, { keyId: String(++keys), userType: 'system', organisationId: '1', resources: ['sample::get'] })
    return (await readRemaining(0, fresh)) === 9 && (await readRemaining(1, fresh)) === 8
  }
  /** Sends 200 sequential requests alternating between both; returns statuses and slow requests. */
  async function sendMany(beforeEachRequest: (nth: number) => Promise<void> | void) {
    const [statuses, times]: [number[], number[]] = [[], []]
    for (let nth = 0; nth < 200; nth++) {
      await beforeEachRequest(nth)
      const started = performance.now()
      const response = await call(nth % 2)
      await response.arrayBuffer()
      times.push(performance.now() - started)
      statuses.push(response.status)
    }
    return { statuses, slow: times.filter((ms) => ms > 1_000).length }
  }

  test('a key has one budget for both gateways', async () => {
    const statuses: number[] = []
    for (let nth = 0; nth < 14; nth++) statuses.push((await call(nth % 2)).status)
    expect(statuses).toEqual([...Array(10).fill(200), ...Array(4).fill(429)])
  })

  test.each([
    ['killed', () => redis.kill(), () => redis.start()],
    ['stopped', () => redis.pause(), () => redis.resume()],
    ['emptied', () => admin.flushall().then(() => {}), () => {}],
    ['full', () => admin.config('SET', 'maxmemory', '1').then(() => {}), () => admin.config('SET', 'maxmemory', '0').then(() => {})],
  ] as [string, () => Promise<void> | void, () => Promise<void> | void][])(
    'requests are answered and limited while Redis is %s',
    async (_, begin, end) => {
      const { statuses, slow } = await sendMany((nth) => (nth === 50 ? begin() : undefined))
      await end()
      expect([...new Set(statuses)].toSorted()).toEqual([200, 429])
      // Each gateway admits at most ten requests per window; the requests may last three windows.
      expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(60)
      expect(slow).toBe(0)
    },
    60_000,
  )

  test('a gateway without a connection to auth is notified of a revoked key within a second', async () => {
    for (const gateway of [0, 1]) expect((await call(gateway)).status).toBe(200)
    const keyId = String(keys)
    standIns.keys.delete(key)
    const started = performance.now()
    await admin.publish('vitascope:revoked', JSON.stringify([keyId]))
    for (const gateway of [0, 1]) {
      await waitFor(async () => (await call(gateway)).status === 401, { timeout: 4_000, interval: 20, describe: 'the key to be rejected' })
    }
    const took = performance.now() - started
    recordFigure('A11', `without a connection to auth, rejected by both gateways after ${Math.round(took)} ms`)
    expect(took).toBeLessThan(extendTimeout(1_000))
  })

  test('a revocation that one gateway receives is published to the other', async () => {
    const received: string[] = []
    const subscriber = new Redis(redis.url)
    await subscriber.subscribe('vitascope:revoked')
    subscriber.on('message', (_, message) => received.push(message))
    standIns.revoke('7', '8')
    await waitFor(() => received.includes('["7","8"]'), { describe: 'the revocation to be published' })
    subscriber.disconnect()
  })

  test('invalid messages on the channel have no effect', async () => {
    for (const message of ['', '{', '[1,{}]', '"x"', 'null']) await admin.publish('vitascope:revoked', message)
    expect((await call(0)).status).toBe(200)
  })
})
