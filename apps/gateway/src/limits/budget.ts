import { RateLimiterMemory, RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible'
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

/** Shared by all gateways, at the cost of a round trip to Redis; while that is away, kept by this process alone. */
export function sharedBudgets(redis: SharedRedis): Budgets {
  return (name, bounds) => {
    const own = new RateLimiterMemory(bounds)
    const shared = new RateLimiterRedis({ ...bounds, storeClient: redis.client, keyPrefix: `vitascope:${name}` })
    const ask = async <T>(question: () => Promise<T>, ownAnswer: () => Promise<T>): Promise<T> => {
      if (!redis.isUp()) return ownAnswer()
      try {
        return await question()
      } catch (error) {
        if (!(error instanceof Error)) throw error
        redis.failed(error)
        return ownAnswer()
      }
    }
    return {
      points: own.points,
      duration: own.duration,
      consume: (who, points) =>
        ask(
          () => shared.consume(who, points),
          () => own.consume(who, points),
        ),
      giveBack: (who, points) =>
        ask(
          () => shared.reward(who, points),
          () => own.reward(who, points),
        ),
      get: (who) =>
        ask(
          () => shared.get(who),
          () => own.get(who),
        ),
    }
  }
}
