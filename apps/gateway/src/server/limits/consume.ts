import type { RateLimiterRes } from 'rate-limiter-flexible'
import { type BudgetHeaders, RateLimited } from '../http/rate-limited.ts'
import type { Budget } from './budget.ts'

/**
 * Consumes points of a budget. Throws `RateLimited` (429) with the budget's headers when too few
 * are left.
 */
export async function consume(policy: string, budget: Budget, name: string, points: number): Promise<RateLimiterRes> {
  try {
    return await budget.consume(name, points)
  } catch (left) {
    if (left instanceof Error) throw left
    // The limiter consumes the points even when it rejects, so they are refunded.
    if (points > 1) throw tooMany(policy, budget, await budget.giveBack(name, points))
    throw tooMany(policy, budget, left as RateLimiterRes)
  }
}

const REFUSED: Readonly<Record<string, string>> = {
  key: 'requests with this key',
  address: 'requests from this address',
  events: 'events of players from this address',
  event_bytes: 'events of players from this address to store within five minutes',
  failed: 'bad keys from this address',
  media: 'requests for files and pages from this address',
  unknown: 'requests from this address for videos that do not exist',
  lookup: 'keys that this gateway does not know from this address',
  password: 'passwords tried from this address at this video',
  password_address: 'passwords tried from this address',
  password_video: 'passwords tried at this video',
  submission: 'submissions of this contact form from this address',
  submission_form: 'submissions of this contact form',
}

export function tooMany(policy: string, budget: Budget, left: RateLimiterRes): RateLimited {
  const retryAfter = Math.max(1, Math.ceil(left.msBeforeNext / 1000))
  const headers = budgetHeaders(policy, budget, left)
  const remaining = Math.max(0, left.remainingPoints)
  return new RateLimited(`too many ${refused(policy)}: try again in ${retryAfter} s`, { retryAfter, headers, remaining })
}

function refused(policy: string): string {
  const narrower = policy.replace(/_48$/, '')
  const what = REFUSED[narrower] ?? 'requests'
  return narrower === policy ? what : what.replace('from this address', 'from this /48 network')
}

export function budgetHeaders(policy: string, budget: Budget, left: RateLimiterRes): BudgetHeaders {
  return {
    'RateLimit-Policy': `"${policy}";q=${budget.points};w=${budget.duration}`,
    RateLimit: `"${policy}";r=${Math.max(0, left.remainingPoints)};t=${Math.ceil(left.msBeforeNext / 1000)}`,
  }
}
