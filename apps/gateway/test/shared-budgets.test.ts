// Faults: R9
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { Budget } from '@vitascope/rate-limit'
import { type FaultProxy, recordFigure, redisPath, startFaultProxy, startRedis, type TestRedis, testLog, waitFor } from '@vitascope/testing'
import { Redis } from 'ioredis'
import { sharedBudgets } from '../src/server/limits/shared-budgets.ts'
import { openRedis, type SharedRedis } from '../src/server/redis/redis.ts'

const withRedis = redisPath() === undefined ? describe.skip : describe
const POINTS = 10
/** No window ends during a test, except where the test shortens it. */
const SECONDS = 600

withRedis('budgets that two gateways share', () => {
  let redis: TestRedis
  let admin: Redis
  let proxies: FaultProxy[]
  let links: SharedRedis[]
  let budgets: Budget[]
  let failures: number
  let names = 0
  beforeAll(async () => {
    redis = await startRedis()
    admin = new Redis(redis.url, { retryStrategy: () => 50 })
    admin.on('error', () => {})
  })
  beforeEach(async () => {
    const host = new URL(redis.url).host
    proxies = [await startFaultProxy(host), await startFaultProxy(host)]
    links = proxies.map(({ address }) => openRedis({ url: `redis://${address}` }, testLog))
    budgets = links.map((link) => {
      const failed = (error: Error) => {
        failures++
        link.onFailure(error)
      }
      return sharedBudgets({ ...link, onFailure: failed })('test', { points: POINTS, duration: SECONDS })
    })
  })
  afterEach(async () => {
    for (const link of links) link.close()
    for (const proxy of proxies) await proxy.close()
  })
  afterAll(async () => {
    admin?.disconnect()
    await redis?.stop()
  })

  const toRedisKey = (name: string) => `vitascope:test:${name}`
  const waitForRedis = () => waitFor(() => links.every((link) => link.isUp()), { timeout: 20_000, describe: 'both gateways to use Redis' })
  const call = async (nth: number, name: string): Promise<boolean> => {
    const consumed = await budgets[nth]?.consume(name, 1).catch((error) => error)
    if (consumed instanceof Error) throw consumed
    return consumed.consumedPoints <= POINTS
  }
  /** Consumes points from both gateways in turn. Returns how many each admitted. */
  async function countAdmitted(name: string, times: number): Promise<[number, number]> {
    const admitted: [number, number] = [0, 0]
    for (let nth = 0; nth < times; nth++) if (await call(nth % 2, name)) admitted[nth % 2 === 0 ? 0 : 1]++
    return admitted
  }
  /**
   * Runs `begin` with a new name while both gateways use Redis. Repeats it if a call to Redis
   * failed, because a gateway then counts alone for a second.
   */
  async function withSharedCount<T>(begin: (name: string) => Promise<T>): Promise<{ name: string; result: T }> {
    for (;;) {
      await waitForRedis()
      failures = 0
      const name = `name ${++names}`
      const result = await begin(name)
      if (failures === 0) return { name, result: result }
    }
  }

  const setDelay = async (ms: number) => {
    for (const proxy of proxies) proxy.delayMs = ms
  }
  const FAULTS: Record<string, [begin: () => Promise<void>, end: () => Promise<void>]> = {
    emptied: [() => redis.flush(), async () => {}],
    full: [() => redis.fill(), () => redis.removeJunk()],
    slow: [() => setDelay(200), () => setDelay(0)],
    down: [() => redis.kill(), () => redis.start()],
  }

  test.each(Object.entries(FAULTS))(
    'while Redis is %s, each gateway continues from the count that it last saw',
    async (_, [begin, end]) => {
      const { name, result: admitted } = await withSharedCount((fresh) => countAdmitted(fresh, POINTS))
      expect(admitted).toEqual([POINTS / 2, POINTS / 2])
      await begin()
      const during = await countAdmitted(name, 2 * POINTS + 6)
      await end()
      expect(during).toEqual([POINTS / 2, POINTS / 2])
    },
  )

  test('each gateway admits at most the budget, however often Redis fails', async () => {
    const name = `name ${++names}`
    const admitted: [number, number] = [0, 0]
    const count = async () => {
      const [first, second] = await countAdmitted(name, 6)
      admitted[0] += first
      admitted[1] += second
    }
    for (const [begin, end] of Object.values(FAULTS)) {
      await waitForRedis()
      await begin()
      await count()
      await end()
      await count()
    }
    expect(admitted[0] + admitted[1]).toBeGreaterThan(POINTS)
    recordFigure('R9', `a gateway admits at most ${Math.max(...admitted)} requests with a budget of ${POINTS}`)
    expect(Math.max(...admitted)).toBeLessThanOrEqual(POINTS)
  })

  test('after the shared window ends, a gateway that joined it late starts a new window too', async () => {
    const leftMs = 1_500
    const { name } = await withSharedCount(async (fresh) => {
      await budgets[0]?.consume(fresh, POINTS - 1)
      await admin.pexpire(toRedisKey(fresh), leftMs)
      // The other gateway consumes the last point shortly before the window ends.
      const consumed = await budgets[1]?.consume(fresh, 1)
      if (consumed?.consumedPoints !== POINTS) failures++
    })
    await waitFor(async () => (await admin.exists(toRedisKey(name))) === 0, { describe: 'the window to end' })
    for (let nth = 0; nth < POINTS; nth++) expect(await call(1, name)).toBe(true)
    expect(await call(1, name)).toBe(false)
  })

  test('the remaining points are the minimum of the shared and the local count', async () => {
    const { result: remaining } = await withSharedCount(async (fresh) => {
      await budgets[0]?.consume(fresh, 4)
      await budgets[1]?.consume(fresh, 3)
      const input = await budgets[1]?.refund(fresh, 2)
      const shared = await budgets[0]?.get(fresh)
      await admin.del(toRedisKey(fresh))
      const own = [await budgets[0]?.get(fresh), await budgets[1]?.get(fresh)]
      return [input, shared, ...own].map((budget) => budget?.remainingPoints)
    })
    expect(remaining).toEqual([5, 5, 6, 9])
    expect(await budgets[0]?.get('unused name')).toBeNull()
  })
})
