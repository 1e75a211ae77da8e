import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { type FaultProxy, redisPath, startFaultProxy, startRedis, type TestRedis, testLog, waitFor } from '@vitascope/testing'
import { Redis } from 'ioredis'
import { type Budget, sharedBudgets } from '../src/server/limits/budget.ts'
import { openRedis, type SharedRedis } from '../src/server/redis/redis.ts'

const withRedis = redisPath() === undefined ? describe.skip : describe
const POINTS = 10
/** No window ends while a test runs, unless it lets one end. */
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
    links = proxies.map(({ address }) => openRedis(`redis://${address}`, testLog))
    budgets = links.map((link) => {
      const failed = (error: Error) => {
        failures++
        link.failed(error)
      }
      return sharedBudgets({ ...link, failed })('test', { points: POINTS, duration: SECONDS })
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

  const keyOf = (name: string) => `vitascope:test:${name}`
  const areUp = () => waitFor(() => links.every((link) => link.isUp()), { timeout: 20_000, describe: 'both to have Redis' })
  const call = async (nth: number, name: string): Promise<boolean> => {
    const left = await budgets[nth]?.consume(name, 1).catch((error) => error)
    if (left instanceof Error) throw left
    return left.consumedPoints <= POINTS
  }
  /** Asks both in turn; answers how often each let it through. */
  async function had(name: string, times: number): Promise<[number, number]> {
    const through: [number, number] = [0, 0]
    for (let nth = 0; nth < times; nth++) if (await call(nth % 2, name)) through[nth % 2 === 0 ? 0 : 1]++
    return through
  }
  /** Begins with a new name while both have Redis: where the machine makes it late, one counts by itself for a second, as it should. */
  async function together<T>(begin: (name: string) => Promise<T>): Promise<{ name: string; found: T }> {
    for (;;) {
      await areUp()
      failures = 0
      const name = `name ${++names}`
      const found = await begin(name)
      if (failures === 0) return { name, found }
    }
  }

  const late = async (ms: number) => {
    for (const proxy of proxies) proxy.delayMs = ms
  }
  const FAULTS: Record<string, [begin: () => Promise<void>, end: () => Promise<void>]> = {
    emptied: [() => redis.flush(), async () => {}],
    full: [() => redis.fill(), () => redis.makeRoom()],
    late: [() => late(200), () => late(0)],
    away: [() => redis.kill(), () => redis.start()],
  }

  test.each(Object.entries(FAULTS))('of a Redis that is %s meanwhile, each goes on from what it has seen', async (_, [begin, end]) => {
    const { name, found } = await together((fresh) => had(fresh, POINTS))
    expect(found).toEqual([POINTS / 2, POINTS / 2])
    await begin()
    const during = await had(name, 2 * POINTS + 6)
    await end()
    expect(during).toEqual([POINTS / 2, POINTS / 2])
  })

  test('however often Redis fails, each lets through the budget at most', async () => {
    const name = `name ${++names}`
    const through: [number, number] = [0, 0]
    const count = async () => {
      const [first, second] = await had(name, 6)
      through[0] += first
      through[1] += second
    }
    for (const [begin, end] of Object.values(FAULTS)) {
      await areUp()
      await begin()
      await count()
      await end()
      await count()
    }
    expect(through[0] + through[1]).toBeGreaterThan(POINTS)
    expect(Math.max(...through)).toBeLessThanOrEqual(POINTS)
  })

  test('a new window of all is a new one of each, whenever it saw the last one', async () => {
    const leftMs = 1_500
    const { name } = await together(async (fresh) => {
      await budgets[0]?.consume(fresh, POINTS - 1)
      await admin.pexpire(keyOf(fresh), leftMs)
      // The last one is asked for of the other gateway, when the window is nearly over.
      const left = await budgets[1]?.consume(fresh, 1)
      if (left?.consumedPoints !== POINTS) failures++
    })
    await waitFor(async () => (await admin.exists(keyOf(name))) === 0, { describe: 'the window to end' })
    for (let nth = 0; nth < POINTS; nth++) expect(await call(1, name)).toBe(true)
    expect(await call(1, name)).toBe(false)
  })

  test('what is left is what the scarcer count says', async () => {
    const { found } = await together(async (fresh) => {
      await budgets[0]?.consume(fresh, 4)
      await budgets[1]?.consume(fresh, 3)
      const input = await budgets[1]?.giveBack(fresh, 2)
      const shared = await budgets[0]?.get(fresh)
      await admin.del(keyOf(fresh))
      const own = [await budgets[0]?.get(fresh), await budgets[1]?.get(fresh)]
      return [input, shared, ...own].map((left) => left?.remainingPoints)
    })
    expect(found).toEqual([5, 5, 6, 9])
    expect(await budgets[0]?.get('nobody')).toBeNull()
  })
})
