import type { Query, Transaction } from '@vitascope/postgres'
import type { Quota } from '../organisation-replica/organisation.ts'
import { QUOTA_COLUMNS, type QuotaRow, toQuota } from '../organisation-replica/quota-row.ts'
import { ESTIMATE, findOverrun, planReservation, type Reservation, type Usage, type Work } from './quota.ts'

/**
 * Checks the quota and returns the reservation of a job. The caller stores the result with the job in
 * the same transaction. It should be called late in the transaction, because other work of the
 * organisation waits for the commit if the organisation has a quota.
 */
export async function reserve(tx: Transaction, organisationId: string, work: Work): Promise<Reservation> {
  const quota = await readQuota(tx, organisationId)
  const hasLimit = isLimited(quota)
  if (hasLimit) await lockUsage(tx, organisationId)
  if (work.uploadId !== undefined) {
    await tx.query('delete from upload_reservation where reservation_id = $1 and organisation_id = $2', [work.uploadId, organisationId])
  }
  if (!hasLimit)
    return { bytes: Math.max(0, Math.max(ESTIMATE.bytes, work.bytes) - work.releasedBytes), ms: work.isEncoded ? ESTIMATE.ms : 0 }
  return planReservation(quota, await readUsage(tx.query, organisationId), work)
}

/** An active job to be checked against the quota. */
export interface QuotaJob {
  jobId: string
  organisationId: string
}

/**
 * Returns why the result of a locked media job exceeds the quota, or undefined. The usage stays locked
 * until the end of the transaction.
 */
export async function findJobOverrun(
  tx: Transaction,
  { jobId, organisationId }: QuotaJob,
  result: { bytes: number; releasedBytes: number; ms: number },
): Promise<string | undefined> {
  const [job] = await tx.query<JobRow & { month: string }>(
    `select reserved_bytes, reserved_ms, quota_bytes, quota_ms, quota_month::text as month from job where job_id = $1`,
    [jobId],
  )
  return job && findReservationOverrun(tx, { jobId, organisationId, job, month: job.month }, result)
}

/** Returns why the result of a slide job exceeds the quota, or undefined. Slides use no minutes. */
export async function findSlidesOverrun(tx: Transaction, { jobId, organisationId }: QuotaJob, bytes: number): Promise<string | undefined> {
  const [job] = await tx.query<JobRow>(
    'select reserved_bytes, 0 as reserved_ms, quota_bytes, null as quota_ms from presentation_job where job_id = $1',
    [jobId],
  )
  return job && findReservationOverrun(tx, { jobId, organisationId, job, month: undefined }, { bytes, releasedBytes: 0, ms: 0 })
}

/**
 * Replaces the estimated minutes of a locked job with the duration of its source, so that later requests
 * are checked against this duration. Returns why the job exceeds the quota, or undefined.
 */
export async function reserveMinutes(tx: Transaction, job: QuotaJob, ms: number): Promise<string | undefined> {
  const [row] = await tx.query<{ reserved_ms: string }>('select reserved_ms from job where job_id = $1', [job.jobId])
  if (!row || Number(row.reserved_ms) >= ms) return undefined
  const message = await findJobOverrun(tx, job, { bytes: 0, releasedBytes: 0, ms })
  if (message === undefined) await tx.query('update job set reserved_ms = $2 where job_id = $1', [job.jobId, ms])
  return message
}

interface JobRow {
  reserved_bytes: string
  reserved_ms: string
  quota_bytes: string | null
  quota_ms: string | null
}

async function findReservationOverrun(
  tx: Transaction,
  { jobId, organisationId, job, month }: QuotaJob & { job: JobRow; month: string | undefined },
  result: { bytes: number; releasedBytes: number; ms: number },
): Promise<string | undefined> {
  // A job that was accepted without a limit stays unlimited.
  if (job.quota_bytes === null && job.quota_ms === null) return undefined
  const quota = await readQuota(tx, organisationId)
  await lockUsage(tx, organisationId)
  const reservation = {
    bytes: Number(job.reserved_bytes),
    ms: Number(job.reserved_ms),
    quotaBytes: job.quota_bytes === null ? undefined : Number(job.quota_bytes),
    quotaMs: job.quota_ms === null ? undefined : Number(job.quota_ms),
  }
  return findOverrun(reservation, quota, await readUsage(tx.query, organisationId, { exceptJobId: jobId, month }), result)
}

interface UsageRow {
  bytes: string
  reserved_bytes: string
  ms: string
  reserved_ms: string
  jobs: number
}

/**
 * Returns the usage of an organisation in a month (UTC). The default is the current month. It is exact
 * if the usage is locked.
 */
export async function readUsage(
  query: Query,
  organisationId: string,
  {
    exceptJobId,
    month,
    exceptUploadId,
  }: { exceptJobId?: string | undefined; month?: string | undefined; exceptUploadId?: string | undefined } = {},
): Promise<Usage> {
  const [row] = await query<UsageRow>(
    `select coalesce((select bytes from organisation_usage where organisation_id = $1), 0) as bytes,
       coalesce((select used_ms from organisation_minutes m where m.organisation_id = $1 and m.month = period.month), 0) as ms,
       j.jobs + s.jobs as jobs, j.reserved_bytes + s.reserved_bytes + u.reserved_bytes as reserved_bytes, j.reserved_ms
     from (select coalesce($3::date, date_trunc('month', now() at time zone 'UTC')::date) as month) period,
       lateral (select count(*)::int as jobs, coalesce(sum(reserved_bytes), 0) as reserved_bytes,
           coalesce(sum(reserved_ms) filter (where quota_month = period.month), 0) as reserved_ms
         from job where organisation_id = $1 and state in ('queued', 'running') and job_id <> coalesce($2::bigint, 0)) j,
       lateral (select count(*)::int as jobs, coalesce(sum(reserved_bytes), 0) as reserved_bytes
         from presentation_job where organisation_id = $1 and state in ('queued', 'running') and job_id <> coalesce($2::bigint, 0)) s,
       lateral (select coalesce(sum(bytes), 0) as reserved_bytes
         from upload_reservation where organisation_id = $1 and expire_time > now() and ($4::uuid is null or reservation_id <> $4)) u`,
    [organisationId, exceptJobId, month, exceptUploadId],
  )
  if (!row) throw new Error('the usage of an organisation returned no row')
  return {
    bytes: Number(row.bytes),
    reservedBytes: Number(row.reserved_bytes),
    ms: Number(row.ms),
    reservedMs: Number(row.reserved_ms),
    jobs: row.jobs,
  }
}

/**
 * Locks the usage of an organisation, so that no other transaction changes it. Media, jobs and
 * presentations must be locked before it, which prevents deadlocks.
 */
export async function lockUsage(tx: Transaction, organisationId: string): Promise<void> {
  const lock = () => tx.query('select 1 from organisation_usage where organisation_id = $1 for update', [organisationId])
  if ((await lock()).length > 0) return
  await tx.query('insert into organisation_usage (organisation_id, bytes) values ($1, 0) on conflict (organisation_id) do nothing', [
    organisationId,
  ])
  await lock()
}

export async function readQuota(tx: Transaction, organisationId: string): Promise<Quota> {
  const [row] = await tx.query<QuotaRow>(`select ${QUOTA_COLUMNS} from organisation where organisation_id = $1`, [organisationId])
  return row ? toQuota(row) : {}
}

function isLimited({ bytes, minutesPerMonth, concurrentJobs }: Quota): boolean {
  return bytes !== undefined || minutesPerMonth !== undefined || concurrentJobs !== undefined
}
