import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import type { SharedRedis } from '../redis/redis.ts'

/** A rate-limit budget: points per name within `duration`. */
export interface Budget {
  readonly points: number
  /** Seconds. */
  readonly duration: number
  /**
   * Consumes points and resolves with the state. Rejects with the state (`RateLimiterRes`) when too
   * few points are left.
   */
  consume(name: string, points: number): Promise<RateLimiterRes>
  /** Refunds a consumption. Resolves with the state after it. */
  refund(name: string, points: number): Promise<RateLimiterRes>
  /** Resolves with the state, or null if nothing was consumed. */
  get(name: string): Promise<RateLimiterRes | null>
}

/** Creates a budget. Its name must be unique. */
export type BudgetFactory = (name: string, bounds: { points: number; duration: number }) => Budget

/** Creates budgets that are counted in this process only. */
export const localBudgets: BudgetFactory = (_, bounds) => {
  const own = new RateLimiterMemory(bounds)
  return {
    ...bounds,
    consume: (who, points) => own.consume(who, points),
    refund: (who, points) => own.reward(who, points),
    get: (who) => own.get(who),
  }
}

/**
 * Creates budgets that all gateways share, at the cost of a Redis round trip. Each gateway also
 * counts its own requests and rejects if either count is exhausted. So it continues from its own
 * count while Redis is unavailable. However often Redis fails, a gateway never admits more than the
 * budget within one window of its own count.
 */
export function sharedBudgets(redis: SharedRedis): BudgetFactory {
  return (name, bounds) => {
    const own = new RateLimiterMemory(bounds)
    const shared = new RateLimiterRedis({ ...bounds, storeClient: redis.client, keyPrefix: `vitascope:${name}` })
    return {
      ...bounds,
      async consume(who, points) {
        const sentAt = performance.now()
        const global = await queryRedis(redis, () => stateAfter(shared.consume(who, points)))
        // The local window must not end after the shared one, or it would reject requests of the
        // next window.
        const leftMs = global && Math.max(1, global.msBeforeNext - (performance.now() - sentAt))
        const local = await stateAfter(own.consume(who, points, leftMs === null ? {} : { customDuration: leftMs / 1000 }))
        const left = moreConsumed(local, global)
        if (left.consumedPoints > bounds.points) throw left
        return left
      },
      async refund(who, points) {
        const global = await queryRedis(redis, () => shared.reward(who, points))
        return moreConsumed(await own.reward(who, points), global)
      },
      async get(who) {
        const global = await queryRedis(redis, () => shared.get(who))
        const local = await own.get(who)
        return local ? moreConsumed(local, global) : global
      },
    }
  }
}

/** Returns null if Redis is unavailable or does not respond in time. */
async function queryRedis<T>(redis: SharedRedis, query: () => Promise<T>): Promise<T | null> {
  if (!redis.isUp()) return null
  try {
    return await query()
  } catch (error) {
    if (!(error instanceof Error)) throw error
    redis.onFailure(error)
    return null
  }
}

/**
 * Returns the state even if too few points were left. Limiters reject with the state then, but have
 * consumed the points.
 */
const stateAfter = (consumption: Promise<RateLimiterRes>): Promise<RateLimiterRes> =>
  consumption.catch((left: unknown) => {
    if (left instanceof RateLimiterRes) return left
    throw left
  })

/** Returns the more consumed of two counts of one budget. */
function moreConsumed(local: RateLimiterRes, global: RateLimiterRes | null): RateLimiterRes {
  return global && global.consumedPoints >= local.consumedPoints ? global : local
}
