import type { BudgetFactory } from '@vitascope/rate-limit'
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import { COMMAND_TIMEOUT_MS, type SharedRedis } from '../redis/redis.ts'

/**
 * Creates budgets that all gateways share, at the cost of a Redis round trip. Each gateway also
 * counts its own requests and rejects if either count is exhausted. So it continues from its own
 * count while Redis is unavailable. However often Redis fails, a gateway never admits more than the
 * budget within one window of its own count.
 */
export function sharedBudgets(redis: SharedRedis): BudgetFactory {
  return (name, bounds) => {
    const local = new RateLimiterMemory(bounds)
    const shared = new RateLimiterRedis({ ...bounds, storeClient: redis.client, keyPrefix: `vitascope:${name}` })
    return {
      ...bounds,
      async consume(name, points) {
        const sentAt = performance.now()
        const sharedState = await queryRedis(redis, () => stateAfter(shared.consume(name, points)))
        // The local window must not end after the shared one, or it would reject requests of the
        // next window.
        const remainingMs = sharedState && Math.max(1, sharedState.msBeforeNext - (performance.now() - sentAt))
        const localState = await stateAfter(local.consume(name, points, remainingMs === null ? {} : { customDuration: remainingMs / 1000 }))
        const state = selectMoreConsumed(localState, sharedState)
        if (state.consumedPoints > bounds.points) throw state
        return state
      },
      async refund(name, points) {
        const sharedState = await queryRedis(redis, () => shared.reward(name, points))
        return selectMoreConsumed(await local.reward(name, points), sharedState)
      },
      async get(name) {
        const sharedState = await queryRedis(redis, () => shared.get(name))
        const localState = await local.get(name)
        return localState ? selectMoreConsumed(localState, sharedState) : sharedState
      },
    }
  }
}

/** Returns null if Redis is unavailable or does not respond in time. */
async function queryRedis<T>(redis: SharedRedis, query: () => Promise<T>): Promise<T | null> {
  if (!redis.isUp()) return null
  try {
    return await limitTime(query())
  } catch (error) {
    if (!(error instanceof Error)) throw error
    redis.onFailure(error)
    return null
  }
}

/** Rejects after `COMMAND_TIMEOUT_MS`. The client itself waits longer for a node of a cluster to which it is not connected yet. */
function limitTime<T>(query: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('Redis did not respond in time')), COMMAND_TIMEOUT_MS)
    query.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/**
 * Returns the state even if too few points were left. Limiters reject with the state then, but have
 * consumed the points.
 */
const stateAfter = (consumption: Promise<RateLimiterRes>): Promise<RateLimiterRes> =>
  consumption.catch((state: unknown) => {
    if (state instanceof RateLimiterRes) return state
    throw state
  })

/** Returns the more consumed of two counts of one budget. */
function selectMoreConsumed(localState: RateLimiterRes, sharedState: RateLimiterRes | null): RateLimiterRes {
  return sharedState && sharedState.consumedPoints >= localState.consumedPoints ? sharedState : localState
}
