import { addressGroups } from '@vitascope/security'
import type { RateLimiterRes } from 'rate-limiter-flexible'
import type { Budget, BudgetFactory } from './budget.ts'
import { consumePoints, rateLimitError } from './consume.ts'
import type { RateLimited } from './rate-limited.ts'

/**
 * A rate-limit budget per client address. IPv6 addresses share one budget per /64 and another one
 * per /48.
 */
export interface AddressBudget {
  /** The budget of one IPv4 address or one /64. */
  readonly own: Budget
  /**
   * Consumes points from the budgets of an address and returns the state of the one that `own`
   * describes. Throws `RateLimited` when one of them has too few points. Then no points are
   * consumed. `scope` separates budgets of one address, for example by video.
   */
  consume(address: string, points: number, scope?: string): Promise<RateLimiterRes>
  /** Refunds consumed points. */
  refund(address: string, points: number, scope?: string): Promise<void>
  /**
   * Returns the error that the next request of an address without a scope would get, or undefined if
   * no budget of the address is empty.
   */
  rejection(address: string): Promise<RateLimited | undefined>
}

/**
 * Default budget of a /48 as a multiple of that of a /64. A campus has many networks, and an attacker with
 * a /48 has 65,536 of them.
 */
export const NETWORK_FACTOR = 4

/**
 * Creates the budgets of addresses. One IPv4 address or /64 has `points` per `duration` seconds, and a /48
 * has `networkFactor` times as many. The name `policy` must be unique.
 */
export function addressBudget(
  createBudget: BudgetFactory,
  policy: string,
  { points, duration, networkFactor = NETWORK_FACTOR }: { points: number; duration: number; networkFactor?: number },
): AddressBudget {
  const own = createBudget(policy, { points, duration })
  const networkBudget = createBudget(`${policy}_48`, { points: points * networkFactor, duration })
  return {
    own,
    async consume(address, consumed, scope) {
      const [group, network] = addressGroups(address)
      const state = await consumePoints(policy, own, formatName(group, scope), consumed)
      if (network === undefined) return state
      try {
        await consumePoints(`${policy}_48`, networkBudget, formatName(network, scope), consumed)
      } catch (error) {
        await own.refund(formatName(group, scope), consumed)
        throw error
      }
      return state
    },
    async refund(address, consumed, scope) {
      const [group, network] = addressGroups(address)
      await own.refund(formatName(group, scope), consumed)
      if (network !== undefined) await networkBudget.refund(formatName(network, scope), consumed)
    },
    async rejection(address) {
      const [group, network] = addressGroups(address)
      const state = await own.get(group)
      if (state !== null && state.remainingPoints <= 0) return rateLimitError(policy, own, state)
      const networkState = network === undefined ? null : await networkBudget.get(network)
      return networkState !== null && networkState.remainingPoints <= 0
        ? rateLimitError(`${policy}_48`, networkBudget, networkState)
        : undefined
    },
  }
}

function formatName(group: string, scope: string | undefined): string {
  return scope === undefined ? group : `${group} ${scope}`
}
