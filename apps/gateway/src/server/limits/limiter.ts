import {
  addressBudget,
  type BudgetFactory,
  type BudgetHeaders,
  budgetHeaders,
  type Cost,
  consumePoints,
  type Limits,
  localBudgets,
} from '@vitascope/rate-limit'
import { toWidestNetwork } from '@vitascope/security'

/** The key or address whose budget a request consumes. */
export type Payer = { policy: 'key'; keyId: string } | { policy: 'address'; address: string }

/** Returns the name under which slots and bodies are counted: a key, an IPv4 address or a /48. */
export const payerName = (payer: Payer) => (payer.policy === 'key' ? `key ${payer.keyId}` : toWidestNetwork(payer.address))

export interface Limiter {
  /**
   * Consumes the cost of one request, or `points`. Throws `RateLimited` (429) when too few points
   * are left.
   */
  consume(payer: Payer, cost: Cost, points?: number): Promise<BudgetHeaders>
  /** Counts an invalid key for its address. Throws `RateLimited` (429) after too many. */
  countInvalidKey(address: string): Promise<void>
  /**
   * Counts the lookup of a key that this gateway has not seen valid. It is free until the address
   * used up its invalid keys. Then it consumes a separate budget, so that valid keys still work
   * from an address that sends many invalid ones. Throws `RateLimited` (429) when that budget is
   * empty too.
   */
  countKeyLookup(address: string): Promise<void>
  /**
   * Counts a submission of a contact form. Throws `RateLimited` (429) when the budget of the
   * address or of the form is empty.
   */
  countSubmission(address: string, contactFormId: string): Promise<void>
}

/** Submissions of one form per minute and address. */
const MAX_SUBMISSIONS = 10
/** Budget of a /48 as a multiple of that of a /64. */
const SUBMISSION_NETWORK_FACTOR = 2
/**
 * Submissions of one form per minute from all addresses. This bounds stored submissions to about 18
 * MB per hour.
 */
const MAX_SUBMISSIONS_OF_FORM = 1_000
const SUBMISSION_SECONDS = 60
/** Key lookups per invalid key that an address may send. Each costs auth one indexed query. */
const LOOKUPS_PER_INVALID_KEY = 10

/**
 * Creates the rate limiter. A budget is `rate × burst` requests per `burst` seconds, and all of
 * them may arrive at once.
 */
export function createLimiter(limits: Limits | 'off', createBudget: BudgetFactory = localBudgets): Limiter {
  if (limits === 'off') {
    return { consume: async () => ({}), countInvalidKey: async () => {}, countKeyLookup: async () => {}, countSubmission: async () => {} }
  }
  const bounds = (rate: number) => ({ points: rate * limits.burst, duration: limits.burst })
  const keyBudgets = { key: createBudget('key', bounds(limits.key)), events: createBudget('events_key', bounds(limits.events)) }
  const addressBudgets = {
    address: addressBudget(createBudget, 'address', bounds(limits.address)),
    events: addressBudget(createBudget, 'events', bounds(limits.events)),
  }
  const failed = addressBudget(createBudget, 'failed', bounds(limits.failed))
  const lookups = addressBudget(createBudget, 'lookup', bounds(limits.failed * LOOKUPS_PER_INVALID_KEY))
  const submissions = addressBudget(createBudget, 'submission', {
    points: MAX_SUBMISSIONS,
    duration: SUBMISSION_SECONDS,
    networkFactor: SUBMISSION_NETWORK_FACTOR,
  })
  const formBudget = createBudget('submission_form', { points: MAX_SUBMISSIONS_OF_FORM, duration: SUBMISSION_SECONDS })
  return {
    async consume(payer, cost, points = cost === 'event' ? 1 : limits.cost[cost]) {
      if (payer.policy === 'key') {
        const policy = cost === 'event' ? 'events' : 'key'
        return budgetHeaders(policy, keyBudgets[policy], await consumePoints(policy, keyBudgets[policy], payer.keyId, points))
      }
      const policy = cost === 'event' ? 'events' : 'address'
      return budgetHeaders(policy, addressBudgets[policy].own, await addressBudgets[policy].consume(payer.address, points))
    },
    async countInvalidKey(address) {
      await failed.consume(address, 1)
    },
    async countKeyLookup(address) {
      if ((await failed.rejection(address)) === undefined) return
      await lookups.consume(address, 1)
    },
    async countSubmission(address, contactFormId) {
      await submissions.consume(address, 1, contactFormId)
      await consumePoints('submission_form', formBudget, contactFormId, 1)
    },
  }
}
