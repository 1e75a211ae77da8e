import type { Query, Transaction } from '@vitascope/postgres'
import type { Quota } from '../organisation-mirror/organisation.ts'
import { QUOTA_COLUMNS, type QuotaRow, quotaOf } from '../organisation-mirror/quota-row.ts'
import { admit, ESTIMATE, overrun, type Reservation, type Usage, type Work } from './quota.ts'

/**
 * Admits work, in the transaction that accepts it: what is answered must be stored with its job there. To be called late: from here on
 * others who add work for the organisation wait for the commit. Without a quota this is one look by primary key and no lock; with one, the
 * jobs of the organisation under way are added up by an index (0.3 ms for 1,000).
 */
export async function reserve(tx: Transaction, organisationId: string, work: Work): Promise<Reservation> {
  const quota = await readQuota(tx, organisationId)
  if (!isLimited(quota))
    return { bytes: Math.max(0, Math.max(ESTIMATE.bytes, work.bytes) - work.givenBack), ms: work.isEncoded ? ESTIMATE.ms : 0 }
  await lockUsage(tx, organisationId)
  return admit(quota, await readUsage(tx.query, organisationId), work)
}

/** A job that stands, as far as its quota goes. */
export interface QuotaJob {
  jobId: string
  organisationId: string
}

/** Why what a locked job of a media has made must not be kept, or undefined; the lock of the usage then lasts until it is counted. */
export async function overrunOf(
  tx: Transaction,
  { jobId, organisationId }: QuotaJob,
  made: { bytes: number; givenBack: number; ms: number },
): Promise<string | undefined> {
  const [job] = await tx.query<JobRow & { month: string }>(
    `select reserved_bytes, reserved_ms, quota_bytes, quota_ms, quota_month::text as month from job where job_id = $1`,
    [jobId],
  )
  return job && judge(tx, { jobId, organisationId, job, month: job.month }, made)
}

/** The same of a job that makes slides. They take no minutes. */
export async function slidesOverrunOf(tx: Transaction, { jobId, organisationId }: QuotaJob, bytes: number): Promise<string | undefined> {
  const [job] = await tx.query<JobRow>(
    'select reserved_bytes, 0 as reserved_ms, quota_bytes, null as quota_ms from presentation_job where job_id = $1',
    [jobId],
  )
  return job && judge(tx, { jobId, organisationId, job, month: undefined }, { bytes, givenBack: 0, ms: 0 })
}

interface JobRow {
  reserved_bytes: string
  reserved_ms: string
  quota_bytes: string | null
  quota_ms: string | null
}

async function judge(
  tx: Transaction,
  { jobId, organisationId, job, month }: QuotaJob & { job: JobRow; month: string | undefined },
  made: { bytes: number; givenBack: number; ms: number },
): Promise<string | undefined> {
  // Without a limit when it was accepted there is none for it.
  if (job.quota_bytes === null && job.quota_ms === null) return undefined
  const quota = await readQuota(tx, organisationId)
  await lockUsage(tx, organisationId)
  const reservation = {
    bytes: Number(job.reserved_bytes),
    ms: Number(job.reserved_ms),
    quotaBytes: job.quota_bytes === null ? undefined : Number(job.quota_bytes),
    quotaMs: job.quota_ms === null ? undefined : Number(job.quota_ms),
  }
  return overrun(reservation, quota, await readUsage(tx.query, organisationId, { but: jobId, month }), made)
}

interface UsageRow {
  bytes: string
  reserved_bytes: string
  ms: string
  reserved_ms: string
  jobs: number
}

/** What an organisation uses, in the month (UTC) that is named or in this one; exact under its lock. */
export async function readUsage(
  query: Query,
  organisationId: string,
  { but, month }: { but?: string | undefined; month?: string | undefined } = {},
): Promise<Usage> {
  const [row] = await query<UsageRow>(
    `select coalesce((select bytes from organisation_usage where organisation_id = $1), 0) as bytes,
       coalesce((select used_ms from organisation_minutes m where m.organisation_id = $1 and m.month = asked.month), 0) as ms,
       j.jobs + s.jobs as jobs, j.reserved_bytes + s.reserved_bytes as reserved_bytes, j.reserved_ms
     from (select coalesce($3::date, date_trunc('month', now() at time zone 'UTC')::date) as month) asked,
       lateral (select count(*)::int as jobs, coalesce(sum(reserved_bytes), 0) as reserved_bytes,
           coalesce(sum(reserved_ms) filter (where quota_month = asked.month), 0) as reserved_ms
         from job where organisation_id = $1 and state in ('queued', 'running') and job_id <> coalesce($2::bigint, 0)) j,
       lateral (select count(*)::int as jobs, coalesce(sum(reserved_bytes), 0) as reserved_bytes
         from presentation_job where organisation_id = $1 and state in ('queued', 'running') and job_id <> coalesce($2::bigint, 0)) s`,
    [organisationId, but, month],
  )
  if (!row) throw new Error('the usage of an organisation answered no row')
  return {
    bytes: Number(row.bytes),
    reservedBytes: Number(row.reserved_bytes),
    ms: Number(row.ms),
    reservedMs: Number(row.reserved_ms),
    jobs: row.jobs,
  }
}

/**
 * Holds everything back that would change what the organisation has set aside or uses. It comes after the locks of media, jobs and
 * presentations; whoever has it locks nothing that another holder could have.
 */
export async function lockUsage(tx: Transaction, organisationId: string): Promise<void> {
  const lock = () => tx.query('select 1 from organisation_usage where organisation_id = $1 for update', [organisationId])
  if ((await lock()).length > 0) return
  await tx.query('insert into organisation_usage (organisation_id, bytes) values ($1, 0) on conflict (organisation_id) do nothing', [
    organisationId,
  ])
  await lock()
}

async function readQuota(tx: Transaction, organisationId: string): Promise<Quota> {
  const [row] = await tx.query<QuotaRow>(`select ${QUOTA_COLUMNS} from organisation where organisation_id = $1`, [organisationId])
  return row ? quotaOf(row) : {}
}

function isLimited({ bytes, minutesPerMonth, concurrentJobs }: Quota): boolean {
  return bytes !== undefined || minutesPerMonth !== undefined || concurrentJobs !== undefined
}
