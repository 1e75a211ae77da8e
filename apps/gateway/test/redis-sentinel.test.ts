import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { DEFAULT_LIMITS } from '@vitascope/rate-limit'
import { redisPath, startRedisWithSentinel, type TestSentinel, testLog, waitFor } from '@vitascope/testing'
import { Redis } from 'ioredis'
import { openRedis, type SharedRedis } from '../src/server/redis/redis.ts'
import { sampleRoutes } from './sample-routes.ts'
import { nextApiKey, type StandIns, startStandIns } from './stand-ins.ts'
import { startTestGateway, withKey } from './started-gateway.ts'

const withRedis = redisPath() === undefined ? describe.skip : describe
const FAILOVER = { timeout: 30_000, interval: 50 }

withRedis('Redis with Sentinel', () => {
  let sentinel: TestSentinel
  let timersBefore: number
  const countTimers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  beforeEach(async () => {
    timersBefore = countTimers()
    sentinel = await startRedisWithSentinel()
  }, 60_000)
  afterEach(async () => {
    await sentinel?.stop()
    // Closed clients stop trying to connect.
    await waitFor(() => countTimers() <= timersBefore, { describe: () => `${countTimers() - timersBefore} timers to end` })
  })

  const settings = () => ({ addresses: [{ host: sentinel.host, port: sentinel.port }], name: sentinel.name, password: undefined })
  const portOf = (nth: 0 | 1) => Number(new URL(sentinel.servers[nth].url).port)
  const waitForFailover = () =>
    waitFor(async () => (await sentinel.readMasterPort()) === portOf(1), { ...FAILOVER, describe: 'the replica to become the master' })

  describe('a client', () => {
    let shared: SharedRedis
    let replica: Redis
    beforeEach(() => {
      // The host of the URL does not exist. Only the database is used.
      shared = openRedis({ url: 'redis://no-such-host.invalid:1/1', sentinels: settings() }, testLog)
      replica = new Redis(portOf(1), '127.0.0.1', { db: 1 })
    })
    afterEach(() => {
      shared?.close()
      replica?.disconnect()
    })

    const waitUntilUp = () => waitFor(() => shared.isUp(), { ...FAILOVER, describe: 'the client to be connected' })

    test.each([
      ['was killed', () => sentinel.servers[0].kill()],
      // Its connections stay open, so that only the Sentinel reports the failover.
      ['does not respond', async () => sentinel.servers[0].pause()],
    ])(
      'continues with the new master after the old one %s',
      async (_, stop) => {
        const received: string[] = []
        let gaps = 0
        const onGap = () => void gaps++
        shared.listen('channel', (message) => received.push(message), onGap)
        await waitUntilUp()
        await waitFor(() => gaps > 0, { ...FAILOVER, describe: 'the subscription' })
        await shared.client.set('before', '1')
        await waitFor(async () => (await replica.get('before')) === '1', { ...FAILOVER, describe: 'the value to be replicated' })

        const gapsBefore = gaps
        await stop()
        await waitForFailover()
        const isWritten = () =>
          shared.client.set('after', '2').then(
            () => true,
            () => false,
          )
        await waitFor(isWritten, { ...FAILOVER, describe: 'the new master to accept writes' })
        expect(await replica.get('after')).toBe('2')
        expect(await replica.get('before')).toBe('1')
        // Messages may have been missed, and later ones arrive.
        await waitFor(() => gaps > gapsBefore, { ...FAILOVER, describe: 'the subscription to the new master' })
        const isReceived = async () => {
          await replica.publish('channel', 'hello')
          return received.includes('hello')
        }
        await waitFor(isReceived, { ...FAILOVER, describe: 'a message of the new master' })
        await waitUntilUp()
      },
      120_000,
    )

    test('reports that Redis is unavailable while no Sentinel responds, and ends without a connection', async () => {
      await waitUntilUp()
      const unknown = openRedis({ url: undefined, sentinels: { ...settings(), name: 'another' } }, testLog)
      const failures: string[] = []
      unknown.client.on('error', ({ message }: Error) => failures.push(message))
      await waitFor(() => failures.length > 0, { ...FAILOVER, describe: 'the failure' })
      expect(failures[0]).toContain('All sentinels are unreachable')
      expect(unknown.isUp()).toBe(false)
      unknown.close()
    })
  })

  describe('two gateways', () => {
    let standIns: StandIns
    let gateways: Awaited<ReturnType<typeof startTestGateway>>[]
    let keys = 0
    beforeAll(async () => {
      standIns = await startStandIns()
    })
    beforeEach(async () => {
      const start = () =>
        startTestGateway(sampleRoutes, {
          authAddress: standIns.address,
          redisSentinels: settings(),
          limits: { ...DEFAULT_LIMITS, key: 1, address: 1_000, burst: 10 },
        })
      gateways = [await start(), await start()]
    })
    afterEach(async () => {
      for (const gateway of gateways ?? []) await gateway.stop()
    })
    afterAll(() => standIns?.stop())

    const readRemaining = async (gateway: number, key: string) => {
      const response = await fetch(`${gateways[gateway]?.url}/v2/sample/1`, { headers: withKey(key) })
      await response.arrayBuffer()
      expect(response.status).toBe(200)
      return Number(/r=(\d+)/.exec(response.headers.get('ratelimit') ?? '')?.[1])
    }
    const waitUntilShared = () => waitFor(isShared, { ...FAILOVER, describe: 'both gateways to share their counts' })
    async function isShared(): Promise<boolean> {
      const key = nextApiKey()
      standIns.keys.set(key, { keyId: String(++keys), userType: 'system', organisationId: '1', resources: ['sample::get'] })
      return (await readRemaining(0, key)) === 9 && (await readRemaining(1, key)) === 8
    }

    test('share their counts before and after a failover, and accept requests during it', async () => {
      await waitUntilShared()
      await sentinel.servers[0].kill()
      await waitForFailover()
      await waitUntilShared()
    }, 120_000)
  })
})
