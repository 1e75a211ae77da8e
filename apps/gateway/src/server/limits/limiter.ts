import { widestGroup } from '@vitascope/security'
import type { BudgetHeaders } from '../http/rate-limited.ts'
import { addressBudget } from './address-budget.ts'
import { type Budgets, ownBudgets } from './budget.ts'
import { budgetHeaders, consume } from './consume.ts'
import type { Cost, Limits } from './limits.ts'

/** The key or address whose budget a request consumes. */
export type Payer = { policy: 'key'; keyId: string } | { policy: 'address'; address: string }

/** Returns the name under which slots and bodies are counted: a key, an IPv4 address or a /48. */
export const payerName = (payer: Payer) => (payer.policy === 'key' ? `key ${payer.keyId}` : widestGroup(payer.address))

export interface Limiter {
  /**
   * Consumes the cost of one request, or `points`. Throws `RateLimited` (429) when too few points
   * are left.
   */
  take(payer: Payer, cost: Cost, points?: number): Promise<BudgetHeaders>
  /** Counts an invalid key for its address. Throws `RateLimited` (429) after too many. */
  takeFailedKey(address: string): Promise<void>
  /**
   * Counts the lookup of a key that this gateway has not seen valid. It is free until the address
   * used up its invalid keys. Then it consumes a separate budget, so that valid keys still work
   * from an address that sends many invalid ones. Throws `RateLimited` (429) when that budget is
   * empty too.
   */
  takeKeyLookUp(address: string): Promise<void>
  /**
   * Counts a submission of a contact form. Throws `RateLimited` (429) when the budget of the
   * address or of the form is empty.
   */
  takeSubmission(address: string, contactFormId: string): Promise<void>
}

/** Submissions of one form per minute and address. A /48 has twice as many. */
const MAX_SUBMISSIONS = 10
/**
 * Submissions of one form per minute from all addresses. This bounds stored submissions to about 18
 * MB per hour.
 */
const MAX_SUBMISSIONS_OF_FORM = 1_000
const SUBMISSION_SECONDS = 60
/** Key lookups per invalid key that an address may send. Each costs auth one indexed query. */
const LOOK_UPS = 10

/**
 * Creates the rate limiter. A budget is `rate × burst` requests per `burst` seconds, and all of
 * them may arrive at once.
 */
export function createLimiter(limits: Limits | 'off', budgetOf: Budgets = ownBudgets): Limiter {
  if (limits === 'off') {
    return { take: async () => ({}), takeFailedKey: async () => {}, takeKeyLookUp: async () => {}, takeSubmission: async () => {} }
  }
  const bounds = (rate: number) => ({ points: rate * limits.burst, duration: limits.burst })
  const ofKey = { key: budgetOf('key', bounds(limits.key)), events: budgetOf('events_key', bounds(limits.events)) }
  const ofAddress = {
    address: addressBudget(budgetOf, 'address', bounds(limits.address)),
    events: addressBudget(budgetOf, 'events', bounds(limits.events)),
  }
  const failed = addressBudget(budgetOf, 'failed', bounds(limits.failed))
  const lookUps = addressBudget(budgetOf, 'lookup', bounds(limits.failed * LOOK_UPS))
  const submissions = addressBudget(budgetOf, 'submission', { points: MAX_SUBMISSIONS, duration: SUBMISSION_SECONDS, wider: 2 })
  const ofForm = budgetOf('submission_form', { points: MAX_SUBMISSIONS_OF_FORM, duration: SUBMISSION_SECONDS })
  return {
    async take(payer, cost, points = cost === 'event' ? 1 : limits.cost[cost]) {
      if (payer.policy === 'key') {
        const policy = cost === 'event' ? 'events' : 'key'
        return budgetHeaders(policy, ofKey[policy], await consume(policy, ofKey[policy], payer.keyId, points))
      }
      const policy = cost === 'event' ? 'events' : 'address'
      return budgetHeaders(policy, ofAddress[policy].own, await ofAddress[policy].take(payer.address, points))
    },
    async takeFailedKey(address) {
      await failed.take(address, 1)
    },
    async takeKeyLookUp(address) {
      if ((await failed.rejection(address)) === undefined) return
      await lookUps.take(address, 1)
    },
    async takeSubmission(address, contactFormId) {
      await submissions.take(address, 1, contactFormId)
      await consume('submission_form', ofForm, contactFormId, 1)
    },
  }
}
