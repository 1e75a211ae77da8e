import type { RateLimiterRes } from 'rate-limiter-flexible'
import type { Budget } from './budget.ts'
import { type BudgetHeaders, RateLimited } from './rate-limited.ts'

/**
 * Consumes points of a budget. Throws `RateLimited` (429) with the budget's headers when too few
 * are left.
 */
export async function consumePoints(policy: string, budget: Budget, name: string, points: number): Promise<RateLimiterRes> {
  try {
    return await budget.consume(name, points)
  } catch (state) {
    if (state instanceof Error) throw state
    // The limiter consumes the points even when it rejects, so they are refunded.
    if (points > 1) throw rateLimitError(policy, budget, await budget.refund(name, points))
    throw rateLimitError(policy, budget, state as RateLimiterRes)
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
  password_subject: 'password attempts for this video',
  sign_in: 'sign-ins from this address',
  sign_in_address: 'sign-ins from this address',
  sign_in_subject: 'sign-ins as this user',
  submission: 'submissions of this contact form from this address',
  submission_form: 'submissions of this contact form',
}

export function rateLimitError(policy: string, budget: Budget, state: RateLimiterRes): RateLimited {
  const retryAfter = Math.max(1, Math.ceil(state.msBeforeNext / 1000))
  const headers = budgetHeaders(policy, budget, state)
  const remaining = Math.max(0, state.remainingPoints)
  return new RateLimited(`too many ${describePolicy(policy)}: try again in ${retryAfter} s`, { retryAfter, headers, remaining })
}

function describePolicy(policy: string): string {
  const narrower = policy.replace(/_48$/, '')
  const description = POLICY_DESCRIPTIONS[narrower] ?? 'requests'
  return narrower === policy ? description : description.replace('from this address', 'from this /48 network')
}

export function budgetHeaders(policy: string, budget: Budget, state: RateLimiterRes): BudgetHeaders {
  return {
    'RateLimit-Policy': `"${policy}";q=${budget.points};w=${budget.duration}`,
    RateLimit: `"${policy}";r=${Math.max(0, state.remainingPoints)};t=${Math.ceil(state.msBeforeNext / 1000)}`,
  }
}
