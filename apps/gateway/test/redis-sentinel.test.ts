import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { redisPath, startRedisWithSentinel, type TestSentinel, testLog, waitFor } from '@vitascope/testing'
import { Redis } from 'ioredis'
import { openRedis, type SharedRedis } from '../src/server/redis/redis.ts'
import { startTwoGateways } from './shared-counts.ts'

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
    let gateways: Awaited<ReturnType<typeof startTwoGateways>>
    beforeEach(async () => {
      gateways = await startTwoGateways({ sentinels: settings() })
    })
    afterEach(() => gateways?.stop())

    const waitUntilShared = () => waitFor(() => gateways.isShared(), { ...FAILOVER, describe: 'both gateways to share their counts' })

    test('share their counts before and after a failover, and accept requests during it', async () => {
      await waitUntilShared()
      await sentinel.servers[0].kill()
      await waitForFailover()
      await waitUntilShared()
    }, 120_000)
  })
})
