import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'

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
  const local = new RateLimiterMemory(bounds)
  return {
    ...bounds,
    consume: (name, points) => local.consume(name, points),
    refund: (name, points) => local.reward(name, points),
    get: (name) => local.get(name),
  }
}
