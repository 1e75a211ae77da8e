import { LRUCache } from 'lru-cache'
import { RateLimiterRes } from 'rate-limiter-flexible'

/** Maximum number of names per budget. Above it, the least recently used name loses its window. */
const MAX_NAMES = 50_000

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

interface Window {
  consumed: number
  /** By `performance.now()`. */
  endsAt: number
}

/**
 * Creates budgets that are counted in this process only, in at most 10 MB of memory each. `RateLimiterMemory` has a timer
 * for each name, which costs 786 MB for a million addresses, and has no bound.
 */
export const localBudgets: BudgetFactory = (_, { points, duration }) => {
  // `max` would allocate the memory at once.
  const windows = new LRUCache<string, Window>({ maxSize: MAX_NAMES, sizeCalculation: () => 1 })
  const find = (name: string, now: number): Window | undefined => {
    const window = windows.get(name)
    return window !== undefined && window.endsAt > now ? window : undefined
  }
  const change = (name: string, consumed: number): RateLimiterRes => {
    const now = performance.now()
    const window = find(name, now) ?? { consumed: 0, endsAt: now + duration * 1_000 }
    const isFirst = window.consumed === 0
    window.consumed = Math.max(0, window.consumed + consumed)
    windows.set(name, window)
    return toState(window, now, isFirst)
  }
  const toState = ({ consumed, endsAt }: Window, now: number, isFirst: boolean) =>
    new RateLimiterRes(Math.max(0, points - consumed), endsAt - now, consumed, isFirst)
  return {
    points,
    duration,
    async consume(name, consumed) {
      const state = change(name, consumed)
      if (state.consumedPoints > points) throw state
      return state
    },
    refund: async (name, refunded) => change(name, -refunded),
    async get(name) {
      const now = performance.now()
      const window = find(name, now)
      return window === undefined ? null : toState(window, now, false)
    },
  }
}
