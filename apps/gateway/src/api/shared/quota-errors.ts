/** Errors of every route that starts work for an organisation. */
export const QUOTA_ERRORS = {
  quota_bytes:
    'The stored bytes and the reservations of active uploads and jobs use up the `bytes` quota of the organisation. `detail` states ' +
    'the numbers.',
  quota_minutes:
    'The minutes encoded in this month and the reservations of active jobs use up the `minutes_per_month` quota of the ' +
    'organisation. `detail` states the numbers.',
  too_many_jobs:
    'The number of active jobs has reached the `concurrent_jobs` quota of the organisation. Retry after the time in `Retry-After`.',
} as const
