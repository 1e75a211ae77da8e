import type { Quota } from './organisation.ts'

/** The quota columns of an organisation. */
export const QUOTA_COLUMNS = 'quota_bytes, quota_minutes_per_month, quota_concurrent_jobs'

export interface QuotaRow {
  quota_bytes: string | null
  quota_minutes_per_month: string | null
  quota_concurrent_jobs: number | null
}

/** Returns the quota of a row. The numbers are exact, because only safe integers are stored. */
export function toQuota(row: QuotaRow): Quota {
  return {
    bytes: row.quota_bytes === null ? undefined : Number(row.quota_bytes),
    minutesPerMonth: row.quota_minutes_per_month === null ? undefined : Number(row.quota_minutes_per_month),
    concurrentJobs: row.quota_concurrent_jobs ?? undefined,
  }
}
