import { DomainError } from '@vitascope/errors'

/** The state of a budget as the headers `RateLimit` and `RateLimit-Policy`. */
export type BudgetHeaders = Readonly<Record<string, string>>

/** Rate-limit error (429) with the headers of the exhausted budget. */
export class RateLimited extends DomainError {
  readonly headers: BudgetHeaders
  /** Points left, fewer than requested. */
  readonly remaining: number

  constructor(message: string, { retryAfter, headers, remaining }: { retryAfter: number; headers: BudgetHeaders; remaining: number }) {
    super('exhausted', 'RATE_LIMITED', message, { retryAfter })
    this.headers = headers
    this.remaining = remaining
  }
}
