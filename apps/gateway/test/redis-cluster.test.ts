import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { hostAndPort } from '@vitascope/config'
import { redisPath, startFaultProxy, startRedisCluster, type TestRedisCluster, testLog, waitFor } from '@vitascope/testing'
import { COMMAND_TIMEOUT_MS, openRedis, type SharedRedis } from '../src/server/redis/redis.ts'
import { startTwoGateways } from './shared-counts.ts'

const withRedis = redisPath() === undefined ? describe.skip : describe
const WAIT = { timeout: 30_000, interval: 50 }

withRedis('a Redis Cluster', () => {
  let cluster: TestRedisCluster
  beforeEach(async () => {
    cluster = await startRedisCluster()
  }, 60_000)
  afterEach(() => cluster?.stop())

  describe('a client', () => {
    let shared: SharedRedis
    beforeEach(() => {
      shared = openRedis({ url: undefined, clusterNodes: cluster.nodes }, testLog)
    })
    afterEach(() => shared?.close())

    const keys = Array.from({ length: 30 }, (_, nth) => `key ${nth}`)
    const isWritten = () =>
      Promise.all(keys.map((key) => shared.client.set(key, 'after'))).then(
        () => true,
        () => false,
      )

    test('uses all masters, and receives messages also after the node of its subscription has failed', async () => {
      const received: string[] = []
      let gaps = 0
      shared.listen(
        'channel',
        (message) => received.push(message),
        () => void gaps++,
      )
      await waitFor(() => shared.isUp() && gaps > 0, { ...WAIT, describe: 'the client to be connected' })
      for (const key of keys) await shared.client.set(key, key)
      expect(await Promise.all(keys.map((key) => shared.client.get(key)))).toEqual(keys)
      const isReceived = (message: string) => async () => {
        shared.publish('channel', message)
        return received.includes(message)
      }
      await waitFor(isReceived('before'), { ...WAIT, describe: 'a message' })

      const gapsBefore = gaps
      await cluster.kill(0)
      await waitFor(() => cluster.isPromoted(), { ...WAIT, describe: 'the replica to become a master' })
      await waitFor(isWritten, { ...WAIT, describe: 'all keys to be accepted again' })
      await waitFor(() => gaps > gapsBefore, { ...WAIT, describe: 'the subscription at another node' })
      await waitFor(isReceived('after'), { ...WAIT, describe: 'a message of another node' })
    }, 120_000)

    test('continues with the replica of a master that does not respond, although its connections stay open', async () => {
      await waitFor(isWritten, { ...WAIT, describe: 'all keys to be accepted' })
      cluster.pause(0)
      await waitFor(() => cluster.isPromoted(), { ...WAIT, describe: 'the replica to become a master' })
      await waitFor(isWritten, { ...WAIT, describe: 'all keys to be accepted again' })
    }, 120_000)

    test('connects by a node that takes longer to respond than a request waits', async () => {
      const [first] = cluster.nodes
      const proxy = await startFaultProxy(`${first?.host}:${first?.port}`)
      proxy.delayMs = 2 * COMMAND_TIMEOUT_MS
      const distant = openRedis({ url: undefined, clusterNodes: [hostAndPort(proxy.address)] }, testLog)
      try {
        await waitFor(() => distant.isUp(), { ...WAIT, describe: 'the client to be connected' })
      } finally {
        distant.close()
        await proxy.close()
      }
    }, 60_000)

    test('rejects commands soon while no node responds', async () => {
      await waitFor(() => shared.isUp(), { ...WAIT, describe: 'the client to be connected' })
      for (const nth of cluster.nodes.keys()) await cluster.kill(nth)
      for (let nth = 0; nth < 5; nth++) await expect(shared.client.get(`key ${nth}`)).rejects.toThrow()
    }, 60_000)
  })

  describe('two gateways', () => {
    let gateways: Awaited<ReturnType<typeof startTwoGateways>>
    beforeEach(async () => {
      gateways = await startTwoGateways({ clusterNodes: cluster.nodes })
    })
    afterEach(() => gateways?.stop())

    const waitUntilShared = () => waitFor(() => gateways.isShared(), { ...WAIT, describe: 'both gateways to share their counts' })

    test('share their counts before and after a failover, and accept requests during it', async () => {
      await waitUntilShared()
      await cluster.kill(0)
      await waitFor(() => gateways.isShared().then(() => cluster.isPromoted()), { ...WAIT, describe: 'the replica to become a master' })
      await waitUntilShared()
    }, 120_000)
  })
})
