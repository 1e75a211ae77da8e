import { DomainError } from '@vitascope/errors'
import type { RateLimiterRes } from 'rate-limiter-flexible'
import type { Cost } from '../route.ts'
import { type Budget, type Budgets, ownBudgets } from './budget.ts'
import type { Limits } from './limits.ts'

/** Whose budget a request takes from. */
export type Payer = { policy: 'key'; keyId: string } | { policy: 'address'; address: string }

/** One name for each key, and for each group of addresses. */
export const payerName = (payer: Payer) => (payer.policy === 'key' ? `key ${payer.keyId}` : addressGroup(payer.address))

/** What is left of a budget, as the headers `RateLimit` and `RateLimit-Policy` say it. */
export type BudgetHeaders = Readonly<Record<string, string>>

export interface Limiter {
  /** Takes the cost of one request; refuses with 429 when nothing is left. */
  take(payer: Payer, cost: Cost): Promise<BudgetHeaders>
  /** Counts a bad key against its address; refuses with 429 when there were too many. */
  takeFailedKey(address: string): Promise<void>
  /** Refuses with 429 while an address has no failed keys left: its keys are then not looked up any more. */
  checkFailedKeys(address: string): Promise<void>
  /** Counts what an address sends by a contact form; refuses with 429 when it is one too many. */
  takeSubmission(address: string, contactFormId: string): Promise<void>
}

/** A form holds only so many, and whoever fills it closes it to everybody. */
const SUBMISSIONS = 10
const SUBMISSION_SECONDS = 60

/**
 * A budget is `rate × burst` requests in every `burst` seconds: the rate holds over that time, and all of it may come at once.
 */
export function createLimiter(limits: Limits | 'off', budgetOf: Budgets = ownBudgets): Limiter {
  if (limits === 'off') {
    return { take: async () => ({}), takeFailedKey: async () => {}, checkFailedKeys: async () => {}, takeSubmission: async () => {} }
  }
  const budget = (name: 'key' | 'address' | 'failed' | 'events') =>
    budgetOf(name, { points: limits[name] * limits.burst, duration: limits.burst })
  const budgets = { key: budget('key'), address: budget('address'), failed: budget('failed') }
  const events = budget('events')
  const submissions = budgetOf('submission', { points: SUBMISSIONS, duration: SUBMISSION_SECONDS })
  return {
    async take(payer, cost) {
      const name = payer.policy === 'key' ? payer.keyId : addressGroup(payer.address)
      if (cost === 'event') return headers('events', events, await consume('events', events, `${payer.policy} ${name}`, 1))
      const { policy } = payer
      const left = await consume(policy, budgets[policy], name, limits.cost[cost])
      return headers(policy, budgets[policy], left)
    },
    async takeFailedKey(address) {
      await consume('failed', budgets.failed, addressGroup(address), 1)
    },
    async checkFailedKeys(address) {
      const left = await budgets.failed.get(addressGroup(address))
      if (left !== null && left.remainingPoints <= 0) throw tooMany('failed', budgets.failed, left)
    },
    async takeSubmission(address, contactFormId) {
      await consume('submission', submissions, `${addressGroup(address)} ${contactFormId}`, 1)
    },
  }
}

/** Takes points of a budget; refuses with 429 and what there is to know when they are not left. */
export async function consume(policy: string, budget: Budget, name: string, points: number): Promise<RateLimiterRes> {
  try {
    return await budget.consume(name, points)
  } catch (left) {
    if (left instanceof Error) throw left
    // The limiter rejects with what is left when that is not enough, and has booked it all the same.
    if (points > 1) throw tooMany(policy, budget, await budget.giveBack(name, points))
    throw tooMany(policy, budget, left as RateLimiterRes)
  }
}

/** A refusal that brings the headers of the budget that is used up. */
export class RateLimited extends DomainError {
  readonly headers: BudgetHeaders

  constructor(message: string, retryAfter: number, budget: BudgetHeaders) {
    super('exhausted', 'RATE_LIMITED', message, { retryAfter })
    this.headers = budget
  }
}

const REFUSED: Readonly<Record<string, string>> = {
  key: 'requests with this key',
  address: 'requests from this address',
  events: 'events of players from this address',
  failed: 'bad keys from this address',
  password: 'passwords tried from this address at this video',
  password_address: 'passwords tried from this address',
  password_video: 'passwords tried at this video',
  submission: 'submissions of this contact form from this address',
}

function tooMany(policy: string, budget: Budget, left: RateLimiterRes): RateLimited {
  const seconds = Math.max(1, Math.ceil(left.msBeforeNext / 1000))
  return new RateLimited(`too many ${REFUSED[policy] ?? 'requests'}: try again in ${seconds} s`, seconds, headers(policy, budget, left))
}

function headers(policy: string, budget: Budget, left: RateLimiterRes): BudgetHeaders {
  return {
    'RateLimit-Policy': `"${policy}";q=${budget.points};w=${budget.duration}`,
    RateLimit: `"${policy}";r=${Math.max(0, left.remainingPoints)};t=${Math.ceil(left.msBeforeNext / 1000)}`,
  }
}

/** One IPv6 customer has at least 2^64 addresses, so those that share the first half count as one. */
export function addressGroup(address: string): string {
  if (!address.includes(':')) return address
  const [head = [], tail = []] = address.split('::', 2).map((half) => half.split(':').filter((group) => group !== ''))
  const zeros = Array<string>(Math.max(0, 8 - head.length - tail.length)).fill('0')
  return `${[...head, ...zeros, ...tail].slice(0, 4).join(':')}::/64`
}
