import { addressGroups } from '@vitascope/security'
import type { RateLimiterRes } from 'rate-limiter-flexible'
import type { RateLimited } from '../http/rate-limited.ts'
import type { Budget, BudgetFactory } from './budget.ts'
import { consumePoints, tooMany } from './consume.ts'

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
   * consumed. `of` separates budgets of one address, for example by video.
   */
  consume(address: string, points: number, of?: string): Promise<RateLimiterRes>
  /** Refunds consumed points. */
  refund(address: string, points: number, of?: string): Promise<void>
  /**
   * Returns the error that the next request of an address would get, or undefined if no budget of
   * the address is empty.
   */
  rejection(address: string): Promise<RateLimited | undefined>
}

/**
 * Budget of a /48 as a multiple of that of a /64. A campus has many networks, and an attacker with
 * a /48 has 65,536 of them.
 */
export const WIDER = 4

export function addressBudget(
  createBudget: BudgetFactory,
  policy: string,
  { points, duration, wider = WIDER }: { points: number; duration: number; wider?: number },
): AddressBudget {
  const own = createBudget(policy, { points, duration })
  const ofNetwork = createBudget(`${policy}_48`, { points: points * wider, duration })
  return {
    own,
    async consume(address, consumed, of) {
      const [group, network] = addressGroups(address)
      const left = await consumePoints(policy, own, nameOf(group, of), consumed)
      if (network === undefined) return left
      try {
        await consumePoints(`${policy}_48`, ofNetwork, nameOf(network, of), consumed)
      } catch (error) {
        await own.refund(nameOf(group, of), consumed)
        throw error
      }
      return left
    },
    async refund(address, consumed, of) {
      const [group, network] = addressGroups(address)
      await own.refund(nameOf(group, of), consumed)
      if (network !== undefined) await ofNetwork.refund(nameOf(network, of), consumed)
    },
    async rejection(address) {
      const [group, network] = addressGroups(address)
      const left = await own.get(group)
      if (left !== null && left.remainingPoints <= 0) return tooMany(policy, own, left)
      const ofAll = network === undefined ? null : await ofNetwork.get(network)
      return ofAll !== null && ofAll.remainingPoints <= 0 ? tooMany(`${policy}_48`, ofNetwork, ofAll) : undefined
    },
  }
}

function nameOf(group: string, of: string | undefined): string {
  return of === undefined ? group : `${group} ${of}`
}
