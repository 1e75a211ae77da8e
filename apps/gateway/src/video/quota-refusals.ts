/** What any route may answer that begins work for an organisation. */
export const QUOTA_REFUSALS = {
  quota_bytes: 'the organisation’s quota of stored bytes is used up, or reserved for jobs under way: the detail has the figures',
  quota_minutes:
    'the organisation’s quota of minutes encoded in this month is used up, or reserved for jobs under way: the detail has the figures',
  too_many_jobs: 'the organisation has as many jobs under way as its quota allows: `Retry-After` says when to try again',
} as const
