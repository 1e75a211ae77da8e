import { DomainError, notFound } from '@vitascope/errors'
import type { Db, Transaction } from '@vitascope/postgres'
import type { Scope } from '@vitascope/principal'
import type { PagePosition } from '@vitascope/request'
import { addEvent, addVideoEvents } from '../notification/event/event-store.ts'
import { queueSuccessMail } from '../notification/mail/mail-store.ts'
import { findJobOverrun, reserveMinutes } from '../quota/reserve.ts'
import { ADDED_IS_USED, addToSet, cancelIfReplaced, clearAddedBytes, countReplacedBytes } from './encoding-format/add-rendition.ts'
import { startAllRenditions } from './encoding-format/start-renditions.ts'
import { applyUpdate, isActive, type Job, type JobUpdate } from './job/job.ts'
import { type Enqueue, enqueueCancelled } from './job/job-messages.ts'
import { switchToSet } from './media/delivery-set.ts'
import { type LockedMedia, lockMedia, saveState } from './media/media-lock.ts'
import { areCompatible } from './media/rendition-set.ts'
import { TOO_LARGE } from './media/status.ts'

export interface JobStore {
  find(scope: Scope, jobId: string, signal?: AbortSignal): Promise<Job | undefined>
  /** Lists jobs by descending id. `after` is the id before which the page starts. */
  list(filter: JobFilter, position: PagePosition, signal?: AbortSignal): Promise<Job[]>
  /** Counts the active jobs of an organisation, or of all. It stops at 10,000. */
  countActive(scope: Scope, signal?: AbortSignal): Promise<{ queued: number; running: number }>
  /**
   * Applies an update to an active job. A progress update needs a revision above the last one.
   * Returns whether the job is still needed, or undefined if the job never existed.
   */
  apply(jobId: string, update: JobUpdate, revision: number | undefined, signal?: AbortSignal): Promise<boolean | undefined>
  /** Cancels a job for its caller. Throws JOB_NOT_FOUND and JOB_FINISHED. */
  cancel(scope: Scope, jobId: string, signal?: AbortSignal): Promise<Job>
  /** Returns the jobs that are active or whose set is current or still served. */
  findNeeded(jobIds: readonly string[], signal?: AbortSignal): Promise<string[]>
  /** Returns the prefixes of the jobs' sets that are current or still served. */
  findUsedPrefixes(jobIds: readonly string[], signal?: AbortSignal): Promise<string[]>
}

export interface JobFilter {
  scope: Scope
  mediaId: string | undefined
  /** States of the listed jobs. Empty for all. */
  states: readonly Job['state'][]
  /** Ids of the listed jobs. Empty for all. */
  jobIds: readonly string[]
}

const MAX_COUNTED = 10_000

export function createJobStore(db: Db, enqueue: Enqueue): JobStore {
  return {
    async find(scope, jobId, signal) {
      signal?.throwIfAborted()
      const [row] = await db.query<JobRow>(
        `select ${COLUMNS} from job where job_id = $1 and ($2::bigint is null or organisation_id = $2)`,
        [jobId, scope],
      )
      return row && toJob(row)
    },
    async list(filter, { after, limit, skip }, signal) {
      signal?.throwIfAborted()
      const { where, values } = toCondition(filter)
      const rows = await db.query<JobRow>(`select ${COLUMNS} from job where job_id < $1 ${where} order by job_id desc limit $2 offset $3`, [
        after,
        limit,
        skip,
        ...values,
      ])
      return rows.map(toJob)
    },
    async countActive(scope, signal) {
      signal?.throwIfAborted()
      const inScope = scope === null ? '' : 'and organisation_id = $2'
      const [counts] = await db.query<{ queued: number; running: number }>(
        `select count(*) filter (where state = 'queued')::int as queued, count(*) filter (where state = 'running')::int as running
         from (select state from job where state in ('queued', 'running') ${inScope} limit $1) active`,
        scope === null ? [MAX_COUNTED] : [MAX_COUNTED, scope],
      )
      return counts ?? { queued: 0, running: 0 }
    },
    apply: (jobId, update, revision, signal) =>
      db.transaction(async (tx) => {
        const locked = await lockJob(tx, jobId, null)
        if (!locked) return undefined
        if (!isActive(locked.job)) return isNeededAfter(tx, jobId, update)
        // Final updates are reported once and ignore the revision: after a database restore in
        // encoding, the revision may be lower than before.
        if (update.kind === 'progress' && revision !== undefined && revision <= locked.revision) return true
        const outcome = await failIfOverQuota(tx, locked, cancelIfReplaced(locked.job, locked.media, update))
        await applyUpdateLocked(tx, enqueue, locked, outcome, revision)
        return outcome.kind !== 'failed' && outcome.kind !== 'cancelled'
      }, signal),
    cancel: (scope, jobId, signal) =>
      db.transaction(async (tx) => {
        const locked = await lockJob(tx, jobId, scope)
        if (!locked) throw notFound('job', jobId)
        if (!isActive(locked.job)) throw new DomainError('failed_precondition', 'JOB_FINISHED', 'the job has already ended')
        await applyUpdateLocked(tx, enqueue, locked, { kind: 'cancelled', message: 'cancelled on request' })
        await enqueueCancelled(enqueue, tx, locked.job)
        const [row] = await tx.query<JobRow>(`select ${COLUMNS} from job where job_id = $1`, [jobId])
        if (!row) throw new Error(`job ${jobId} disappeared while it was locked`)
        return toJob(row)
      }, signal),
    async findNeeded(jobIds, signal) {
      signal?.throwIfAborted()
      return (await db.query<{ job_id: string }>(FIND_NEEDED, [jobIds])).map(({ job_id }) => job_id)
    },
    async findUsedPrefixes(jobIds, signal) {
      signal?.throwIfAborted()
      return (await db.query<{ prefix: string }>(FIND_USED_PREFIXES, [jobIds])).map(({ prefix }) => prefix)
    },
  }
}

/**
 * Returns the SQL of a filter, whose values follow three others. States are in the statement itself, so that
 * the planner can use the indexes of active and of failed jobs.
 */
function toCondition({ scope, mediaId, states, jobIds }: JobFilter): { where: string; values: string[] } {
  const values: string[] = []
  const conditions: string[] = []
  const add = (column: string, value: string, toOperand = (parameter: string) => parameter) => {
    values.push(value)
    conditions.push(`and ${column} = ${toOperand(`$${values.length + 3}`)}`)
  }
  if (scope !== null) add('organisation_id', scope)
  if (mediaId !== undefined) add('media_id', mediaId)
  if (jobIds.length > 0) add('job_id', `{${jobIds.join()}}`, (parameter) => `any (${parameter}::bigint[])`)
  if (states.length > 0) conditions.push(`and state in (${states.map((state) => `'${state}'`).join(', ')})`)
  return { where: conditions.join(' '), values }
}

/**
 * Cancels active jobs of a locked media and notifies encoding. `kind` selects the jobs that create its
 * set, the jobs that add renditions, or all jobs. The caller updates the state of the media.
 */
export async function endActiveJobs(
  tx: Transaction,
  enqueue: Enqueue,
  { mediaId, kind, message }: { mediaId: string; kind: 'set' | 'renditions' | 'all'; message: string },
): Promise<void> {
  const ended = await tx.query<{ job_id: string }>(
    `update job set state = 'cancelled', code = 4005, message = $2, finish_time = now()
     where media_id = $1 and state in ('queued', 'running') and ($3 = 'all' or (action = 'add_rendition') = ($3 = 'renditions'))
     returning job_id`,
    [mediaId, message, kind],
  )
  for (const { job_id: jobId } of ended) await enqueueCancelled(enqueue, tx, { jobId, mediaId })
}

interface LockedJob {
  job: Job
  userId: string
  revision: number
  /** Undefined if the media was deleted. */
  media: LockedMedia | undefined
}

/** Returns the update, or a failure if the source or the set exceeds the organisation's quota. */
async function failIfOverQuota(tx: Transaction, { job, media }: LockedJob, update: JobUpdate): Promise<JobUpdate> {
  if (update.kind === 'progress' && update.sourceMs && job.action !== 'add_rendition') {
    const message = await reserveMinutes(tx, job, update.sourceMs)
    return message === undefined ? update : { kind: 'failed', code: TOO_LARGE, message }
  }
  if (update.kind !== 'published' || !media) return update
  const { bytes, durationSeconds } = update.renditions
  const result =
    job.action === 'add_rendition'
      ? { bytes, releasedBytes: 0, ms: 0 }
      : { bytes, releasedBytes: await countReplacedBytes(tx, media), ms: Math.round(durationSeconds * 1_000) }
  const message = await findJobOverrun(tx, job, result)
  return message === undefined ? update : { kind: 'failed', code: TOO_LARGE, message }
}

/** Applies an update to a locked active job and to its media. */
async function applyUpdateLocked(
  tx: Transaction,
  enqueue: Enqueue,
  { job, media, userId }: LockedJob,
  update: JobUpdate,
  revision?: number,
): Promise<void> {
  if (!media) throw new Error(`job ${job.jobId} is active, but media ${job.mediaId} does not exist`)
  const after = applyUpdate(job, media, update)
  await tx.query(
    `update job set state = $2, progress = $3, code = $4, message = $5, revision = coalesce($6, revision), check_time = now(),
       ended_since = null, start_time = case when $2 in ('running', 'ok') then coalesce(start_time, now()) else start_time end,
       finish_time = case when $2 in ('queued', 'running') then null else now() end
     where job_id = $1`,
    [job.jobId, after.job.state, after.job.progress, after.job.code, after.job.message, revision ?? null],
  )
  if (job.action === 'add_rendition') {
    // An added rendition does not change the media's status. A rendition for another set is
    // cancelled before this point.
    if (update.kind !== 'published' || !media.renditions) return
    return saveState(tx, job.mediaId, { ...media, renditions: await addToSet(tx, job, media.renditions, update.renditions) })
  }
  await saveState(tx, job.mediaId, after.media)
  const { preview } = after.media
  if (preview && !(media.preview && areCompatible(media.preview, preview))) {
    await switchToSet(tx, job.mediaId, undefined)
    if (!media.preview) await addVideoEvents(tx, 'video.playable', job, { job_id: job.jobId })
  }
  if (update.kind === 'published') {
    // If the preview set has the same plan, its URLs stay valid and running playback continues.
    if (!(media.preview && areCompatible(media.preview, update.renditions))) await switchToSet(tx, job.mediaId, media.renditions)
    await emitReadyEvents(tx, job, media)
    await endActiveJobs(tx, enqueue, { mediaId: job.mediaId, kind: 'renditions', message: 'replaced by a later request' })
    await clearAddedBytes(tx, job.mediaId)
    await startAllRenditions(tx, enqueue, { ...media, renditions: update.renditions }, userId)
  } else if (update.kind === 'failed' || update.kind === 'cancelled') {
    const { code, message } = after.job
    await addVideoEvents(tx, 'video.failed', job, { job_id: job.jobId, action: ACTIONS[job.action], code, message })
  }
}

const ACTIONS = { new_video: 'new video', replace: 'replace', add_rendition: 'add rendition' } as const

/** Emits the events of a published set. `video.playable` and `video.ready` are emitted once per media. */
async function emitReadyEvents(tx: Transaction, job: Job, before: LockedMedia): Promise<void> {
  const { jobId, mediaId, videoId, organisationId } = job
  const [earlierJob] = await tx.query(`select 1 from job where media_id = $1 and state = 'ok' and job_id <> $2 limit 1`, [mediaId, jobId])
  if (!before.renditions && !before.preview) await addVideoEvents(tx, 'video.playable', job, { job_id: jobId })
  if (!earlierJob) await addVideoEvents(tx, 'video.ready', job, { job_id: jobId })
  // A replacement of a failed upload publishes the first set, so it is not reported as a
  // replacement.
  if (before.renditions) {
    const data = { video_id: videoId, media_id: mediaId, organisation_id: organisationId, job_id: jobId }
    await addEvent(tx, { type: 'media.replaced', organisationId, objectKey: `media:${mediaId}`, data })
  } else await queueSuccessMail(tx, job)
}

/** Locks the media, then the job. */
async function lockJob(tx: Transaction, jobId: string, scope: Scope): Promise<LockedJob | undefined> {
  const [jobRow] = await tx.query<{ media_id: string }>(
    'select media_id from job where job_id = $1 and ($2::bigint is null or organisation_id = $2)',
    [jobId, scope],
  )
  if (!jobRow) return undefined
  const media = await lockMedia(tx, jobRow.media_id, null)
  const [row] = await tx.query<JobRow & { revision: string; user_id: string }>(
    `select ${COLUMNS}, revision, user_id from job where job_id = $1 for update`,
    [jobId],
  )
  return row && { job: toJob(row), userId: row.user_id, revision: Number(row.revision), media }
}

/** Returns whether a job that has ended is still needed. A reported set is needed if it is the accepted one. */
async function isNeededAfter(tx: Transaction, jobId: string, update: JobUpdate): Promise<boolean> {
  if (update.kind === 'progress') return false
  if (update.kind !== 'published') return (await tx.query(FIND_NEEDED, [[jobId]])).length > 0
  return (await tx.query<{ prefix: string }>(FIND_USED_PREFIXES, [[jobId]])).some(({ prefix }) => prefix === update.renditions.prefix)
}

const FIND_USED_PREFIXES = `
  select renditions ->> 'prefix' as prefix from media where set_job_id = any($1::bigint[])
  union select prefix from delivery_set where job_id = any($1::bigint[]) and expire_time > now()
  union select a.prefix from added_rendition a where a.job_id = any($1::bigint[]) and ${ADDED_IS_USED}`

const FIND_NEEDED = `
  select j.job_id from job j
  where j.job_id = any($1::bigint[])
    and (j.state in ('queued', 'running')
      or exists (select from media m where m.set_job_id = j.job_id)
      or exists (select from delivery_set s where s.job_id = j.job_id and s.expire_time > now())
      or exists (select from added_rendition a where a.job_id = j.job_id and ${ADDED_IS_USED}))
  order by j.job_id`

const COLUMNS =
  'job_id, video_id, media_id, organisation_id, action, set_job_id, state, progress, code, message, create_time, start_time, finish_time'

interface JobRow {
  job_id: string
  video_id: string
  media_id: string
  organisation_id: string
  action: Job['action']
  set_job_id: string | null
  state: Job['state']
  progress: number
  code: number
  message: string
  create_time: Date
  start_time: Date | null
  finish_time: Date | null
}

function toJob(row: JobRow): Job {
  return {
    jobId: row.job_id,
    videoId: row.video_id,
    mediaId: row.media_id,
    organisationId: row.organisation_id,
    action: row.action,
    setJobId: row.set_job_id ?? undefined,
    state: row.state,
    progress: row.progress,
    code: row.code,
    message: row.message,
    createTime: row.create_time,
    startTime: row.start_time ?? undefined,
    finishTime: row.finish_time ?? undefined,
  }
}
