import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import type { SharedRedis } from '../redis/redis.ts'

/** Points that each name may use in so many seconds. */
export interface Budget {
  readonly points: number
  /** Seconds. */
  readonly duration: number
  /** Rejects with what is left, a `RateLimiterRes`, when that is not enough. */
  consume(name: string, points: number): Promise<RateLimiterRes>
  /** Takes a consumption back; answers what is left then. */
  giveBack(name: string, points: number): Promise<RateLimiterRes>
  /** What is left; null where nothing was used. */
  get(name: string): Promise<RateLimiterRes | null>
}

/** Makes a budget; its name tells it from all others. */
export type Budgets = (name: string, bounds: { points: number; duration: number }) => Budget

/** Kept by this process alone. */
export const ownBudgets: Budgets = (_, bounds) => {
  const own = new RateLimiterMemory(bounds)
  return {
    ...bounds,
    consume: (who, points) => own.consume(who, points),
    giveBack: (who, points) => own.reward(who, points),
    get: (who) => own.get(who),
  }
}

/**
 * Shared by all gateways, at the cost of a round trip to Redis. Each of them also counts by itself whatever it is asked for, and refuses what
 * either count refuses. So while Redis is away it goes on from what it has seen, and whatever becomes of Redis, and however often, none lets
 * more through than the budget in a window of its own count.
 */
export function sharedBudgets(redis: SharedRedis): Budgets {
  return (name, bounds) => {
    const own = new RateLimiterMemory(bounds)
    const shared = new RateLimiterRedis({ ...bounds, storeClient: redis.client, keyPrefix: `vitascope:${name}` })
    return {
      ...bounds,
      async consume(who, points) {
        const asked = performance.now()
        const all = await answer(redis, () => booked(shared.consume(who, points)))
        // A window of its own ends with the one of all, or a little earlier: later, it would be in the way of the next.
        const leftMs = all && Math.max(1, all.msBeforeNext - (performance.now() - asked))
        const mine = await booked(own.consume(who, points, leftMs === null ? {} : { customDuration: leftMs / 1000 }))
        const left = scarcer(mine, all)
        if (left.consumedPoints > bounds.points) throw left
        return left
      },
      async giveBack(who, points) {
        const all = await answer(redis, () => shared.reward(who, points))
        return scarcer(await own.reward(who, points), all)
      },
      async get(who) {
        const all = await answer(redis, () => shared.get(who))
        const mine = await own.get(who)
        return mine ? scarcer(mine, all) : all
      },
    }
  }
}

/** Null while Redis is away, or too late. */
async function answer<T>(redis: SharedRedis, question: () => Promise<T>): Promise<T | null> {
  if (!redis.isUp()) return null
  try {
    return await question()
  } catch (error) {
    if (!(error instanceof Error)) throw error
    redis.failed(error)
    return null
  }
}

/** What is left also when it was not enough: limiters reject with it then, and have booked the points all the same. */
const booked = (consumption: Promise<RateLimiterRes>): Promise<RateLimiterRes> =>
  consumption.catch((left: unknown) => {
    if (left instanceof RateLimiterRes) return left
    throw left
  })

/** Of two counts of one budget. */
function scarcer(mine: RateLimiterRes, all: RateLimiterRes | null): RateLimiterRes {
  return all && all.consumedPoints >= mine.consumedPoints ? all : mine
}
