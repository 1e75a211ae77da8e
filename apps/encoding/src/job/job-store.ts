import type { EncodePlan, Rung, SourceProbe } from '@vitascope/media'
import type { Query, Transaction } from '@vitascope/postgres'
import type { StoredSource } from '../task/task.ts'
import { ACTIVE_STATES, type FinishedSet, type Job, type JobKind, type JobState, type NewJob } from './job.ts'

interface Row {
  job_id: string
  kind: JobKind
  media_id: string
  organisation_id: string
  source_url: string
  max_bytes: string | null
  max_seconds: number | null
  low_priority: boolean
  can_copy_video: boolean
  plan_number: number
  rendition: Rung | null
  at_seconds: number | null
  state: JobState
  progress: number
  attempt: number
  code: number
  message: string
  source: StoredSource | null
  probe: SourceProbe | null
  plan: EncodePlan | null
  result: FinishedSet | null
  create_time: Date
  start_time: Date | null
  finish_time: Date | null
}

const COLUMNS =
  'job_id, kind, media_id, organisation_id, source_url, max_bytes, max_seconds, low_priority, can_copy_video, plan_number, rendition, at_seconds, state, progress, attempt, code, message, source, probe, plan, result, create_time, start_time, finish_time'

export async function readJob(query: Query, jobId: string): Promise<Job | undefined> {
  const [row] = await query<Row>(`select ${COLUMNS} from job where job_id = $1`, [jobId])
  return row && toJob(row)
}

/** Locks a job. Every transaction that changes a job or its work starts with this lock. */
export async function lockJob(tx: Transaction, jobId: string): Promise<Job | undefined> {
  const [row] = await tx.query<Row>(`select ${COLUMNS} from job where job_id = $1 for update`, [jobId])
  return row && toJob(row)
}

/** Inserts a job. Returns false if the id exists. */
export async function insertJob(tx: Transaction, job: NewJob, state: 'queued' | 'cancelled' = 'queued'): Promise<boolean> {
  const rows = await tx.query(
    `insert into job (job_id, kind, media_id, organisation_id, source_url, source, max_bytes, max_seconds, rendition, set_job_id, low_priority, at_seconds, state, code, message, finish_time, is_dropped)
     values ($1, $6, $2, $3, $4, $7, $8, $9, $10, $11, $12, $13, $5::text, case when $5::text = 'cancelled' then 4005 else 0 end, case when $5::text = 'cancelled' then 'cancelled' else '' end,
       case when $5::text = 'cancelled' then now() end, $5::text = 'cancelled')
     on conflict (job_id) do nothing returning 1`,
    [
      ...[job.jobId, job.mediaId, job.organisationId, job.sourceUrl, state, job.kind, json(job.source), job.maxBytes, job.maxSeconds],
      ...[json(job.rendition), job.setJobId, job.lowPriority ?? false, job.atSeconds],
    ],
  )
  return rows.length === 1
}

/**
 * Updates an active job, and sets its start time at the first update. Omitted fields keep their
 * values, and progress never decreases.
 */
export async function updateJob(
  tx: Transaction,
  jobId: string,
  changes: { state?: JobState; progress?: number; attempt?: number; source?: StoredSource; probe?: SourceProbe; plan?: EncodePlan },
): Promise<void> {
  await tx.query(
    `update job set state = coalesce($2, state), progress = greatest(progress, $3), attempt = coalesce($4, attempt),
       source = coalesce($5, source), probe = coalesce($6, probe), plan = coalesce($7, plan), start_time = coalesce(start_time, now())
     where job_id = $1`,
    [
      jobId,
      changes.state ?? null,
      changes.progress ?? 0,
      changes.attempt ?? null,
      json(changes.source),
      json(changes.probe),
      json(changes.plan),
    ],
  )
}

/**
 * Prepares a job for a new plan. Previews need a new URL, because files of two plans cannot be
 * combined.
 */
export async function startNewPlan(tx: Transaction, { jobId, canCopyVideo }: Pick<Job, 'jobId' | 'canCopyVideo'>): Promise<void> {
  await tx.query('update job set plan_number = plan_number + 1, is_playable = false, can_copy_video = $2 where job_id = $1', [
    jobId,
    canCopyVideo,
  ])
}

/** Finishes a job. Returns the revision of its final report. */
export async function finishJob(
  tx: Transaction,
  jobId: string,
  end: { state: 'ok' | 'failed' | 'cancelled'; code: number; message: string; result?: FinishedSet },
): Promise<string> {
  const [row] = await tx.query<{ revision: string }>(
    `update job set state = $2::text, code = $3, message = $4, result = $5, finish_time = now(), revision = revision + 1,
       progress = case when $2::text = 'ok' then 100 else progress end, is_dropped = $2::text <> 'ok', check_time = now()
     where job_id = $1 returning revision`,
    [jobId, end.state, end.code, end.message, json(end.result)],
  )
  if (!row) throw new Error(`the locked job ${jobId} does not exist`)
  return row.revision
}

/** Returns the revision of a repeated report for a locked job that has ended. */
export async function nextRevision(tx: Transaction, jobId: string): Promise<string> {
  const [row] = await tx.query<{ revision: string }>('update job set revision = revision + 1 where job_id = $1 returning revision', [jobId])
  if (!row) throw new Error(`the locked job ${jobId} does not exist`)
  return row.revision
}

/** Reactivates a published job whose objects were dropped. Returns false for any other job. */
export async function reviveJob(tx: Transaction, jobId: string): Promise<boolean> {
  const rows = await tx.query(
    `update job set state = 'queued', progress = 5, attempt = 0, result = null, finish_time = null, is_dropped = false, unneeded_time = null
     where job_id = $1 and state = 'ok' and is_dropped returning 1`,
    [jobId],
  )
  return rows.length === 1
}

/** Raises the progress of an active job. Returns false if nothing changed. */
export async function raiseProgress(query: Query, jobId: string, percent: number): Promise<boolean> {
  const rows = await query('update job set progress = $2 where job_id = $1 and progress < $2 and state = any($3) returning 1', [
    jobId,
    percent,
    ACTIVE_STATES,
  ])
  return rows.length === 1
}

/**
 * Increments the revision of an active job. Returns it with the progress, and with the duration of
 * the source once it is known.
 */
export async function nextProgressReport(
  query: Query,
  jobId: string,
): Promise<{ revision: string; progress: number; sourceMs: number | null } | undefined> {
  const [row] = await query<{ revision: string; progress: number; sourceMs: number | null }>(
    `update job set revision = revision + 1 where job_id = $1 and state = any($2)
     returning revision, progress, case when kind = 'renditions' then round((plan ->> 'durationSeconds')::numeric * 1000)::float8 end as "sourceMs"`,
    [jobId, ACTIVE_STATES],
  )
  return row
}

/**
 * Counts the jobs in progress, including those whose source waits for a worker. A job whose
 * download waits for a retry counts as not started: otherwise enough such jobs would block their
 * own downloads. `normal` counts the jobs of normal priority.
 */
export async function countJobsInProgress(query: Query): Promise<{ all: number; normal: number }> {
  const [row] = await query<{ all: number; normal: number }>(
    `select count(*)::int as all, count(*) filter (where not low_priority)::int as normal from job j where state = any($1) and state <> 'queued' and kind = 'renditions' and not (state = 'fetching'
       and exists (select from work_item w where w.key = 'job:' || j.job_id and w.kind = 'fetch' and w.state = 'waiting'))`,
    [ACTIVE_STATES],
  )
  return row ?? { all: 0, normal: 0 }
}

function json(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value)
}

function toJob(row: Row): Job {
  return {
    jobId: row.job_id,
    kind: row.kind,
    mediaId: row.media_id,
    organisationId: row.organisation_id,
    sourceUrl: row.source_url,
    maxBytes: row.max_bytes === null ? undefined : Number(row.max_bytes),
    maxSeconds: row.max_seconds ?? undefined,
    lowPriority: row.low_priority,
    canCopyVideo: row.can_copy_video,
    planNumber: row.plan_number,
    rendition: row.rendition ?? undefined,
    atSeconds: row.at_seconds ?? undefined,
    state: row.state,
    progress: row.progress,
    attempt: row.attempt,
    code: row.code,
    message: row.message,
    source: row.source ?? undefined,
    probe: row.probe ?? undefined,
    plan: row.plan ?? undefined,
    result: row.result ?? undefined,
    createTime: row.create_time,
    startTime: row.start_time ?? undefined,
    finishTime: row.finish_time ?? undefined,
  }
}

/**
 * Returns the number of consecutive storage faults of a job's tasks, not counting those of its
 * chunks.
 */
export async function readStorageFaults(tx: Transaction, jobId: string): Promise<number> {
  const [row] = await tx.query<{ storage_faults: number }>('select storage_faults from job where job_id = $1', [jobId])
  return row?.storage_faults ?? 0
}

export async function countStorageFault(tx: Transaction, jobId: string): Promise<void> {
  await tx.query('update job set storage_faults = storage_faults + 1 where job_id = $1', [jobId])
}

/** Resets the count after a completed task, because the storage works again. */
export async function resetStorageFaults(tx: Transaction, jobId: string): Promise<void> {
  await tx.query('update job set storage_faults = 0 where job_id = $1 and storage_faults > 0', [jobId])
}
