import type { RateLimiterRes } from 'rate-limiter-flexible'
import { type BudgetHeaders, RateLimited } from '../http/rate-limited.ts'
import type { Budget } from './budget.ts'

/**
 * Consumes points of a budget. Throws `RateLimited` (429) with the budget's headers when too few
 * are left.
 */
export async function consumePoints(policy: string, budget: Budget, name: string, points: number): Promise<RateLimiterRes> {
  try {
    return await budget.consume(name, points)
  } catch (left) {
    if (left instanceof Error) throw left
    // The limiter consumes the points even when it rejects, so they are refunded.
    if (points > 1) throw tooMany(policy, budget, await budget.refund(name, points))
    throw tooMany(policy, budget, left as RateLimiterRes)
  }
}

const POLICY_DESCRIPTIONS: Readonly<Record<string, string>> = {
  key: 'requests with this key',
  address: 'requests from this address',
  events: 'player events from this address',
  event_bytes: 'player events from this address to store within five minutes',
  failed: 'invalid keys from this address',
  media: 'requests for files and pages from this address',
  unknown: 'requests from this address for videos that do not exist',
  lookup: 'unknown keys from this address',
  password: 'password attempts from this address for this video',
  password_address: 'password attempts from this address',
  password_video: 'password attempts for this video',
  submission: 'submissions of this contact form from this address',
  submission_form: 'submissions of this contact form',
}

export function tooMany(policy: string, budget: Budget, left: RateLimiterRes): RateLimited {
  const retryAfter = Math.max(1, Math.ceil(left.msBeforeNext / 1000))
  const headers = budgetHeaders(policy, budget, left)
  const remaining = Math.max(0, left.remainingPoints)
  return new RateLimited(`too many ${describePolicy(policy)}: try again in ${retryAfter} s`, { retryAfter, headers, remaining })
}

function describePolicy(policy: string): string {
  const narrower = policy.replace(/_48$/, '')
  const what = POLICY_DESCRIPTIONS[narrower] ?? 'requests'
  return narrower === policy ? what : what.replace('from this address', 'from this /48 network')
}

export function budgetHeaders(policy: string, budget: Budget, left: RateLimiterRes): BudgetHeaders {
  return {
    'RateLimit-Policy': `"${policy}";q=${budget.points};w=${budget.duration}`,
    RateLimit: `"${policy}";r=${Math.max(0, left.remainingPoints)};t=${Math.ceil(left.msBeforeNext / 1000)}`,
  }
}
