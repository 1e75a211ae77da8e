import { DomainError, notFound } from '@vitascope/errors'
import type { Db, Transaction } from '@vitascope/postgres'
import { moveToNewSet } from '../delivery-rule/delivery-set.ts'
import { ADDED_IS_USED, addToSet, endCountOfAdded, unlessOvertaken } from '../encoding-format/add-rendition.ts'
import { startAllRenditions } from '../encoding-format/start-renditions.ts'
import { addEvent, addVideoEvents } from '../event/event-store.ts'
import { queueSuccessMail } from '../mail/mail-store.ts'
import { type LockedMedia, lockMedia, saveStanding } from '../media/media-lock.ts'
import { fitTogether } from '../media/rendition-set.ts'
import { TOO_LARGE } from '../media/status.ts'
import { overrunOf } from '../quota/reserve.ts'
import type { Scope } from '../visibility.ts'
import { type Job, type News, settle, stands } from './job.ts'
import { type Enqueue, enqueueCancelled } from './job-messages.ts'

export interface JobStore {
  find(scope: Scope, jobId: string, signal?: AbortSignal): Promise<Job | undefined>
  /**
   * Applies news to a job that stands; progress only with a revision above the last one. Answers whether the job is wanted after it;
   * undefined when there never was such a job.
   */
  apply(jobId: string, news: News, revision: number | undefined, signal?: AbortSignal): Promise<boolean | undefined>
  /** Ends a job on its caller's behalf; refuses with JOB_NOT_FOUND and JOB_FINISHED. */
  cancel(scope: Scope, jobId: string, signal?: AbortSignal): Promise<Job>
  /** Those of the jobs that stand, or whose set a media uses or keeps. */
  wanted(jobIds: readonly string[], signal?: AbortSignal): Promise<string[]>
  /** The prefixes of those sets of the jobs that a media uses or keeps. */
  usedSets(jobIds: readonly string[], signal?: AbortSignal): Promise<string[]>
}

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
    apply: (jobId, news, revision, signal) =>
      db.transaction(async (tx) => {
        const locked = await lockJob(tx, jobId, null)
        if (!locked) return undefined
        if (!stands(locked.job)) return isWantedAfter(tx, jobId, news)
        // How a job ends is told once: by one that went back in time with its database, with a revision of before.
        if (news.kind === 'progress' && revision !== undefined && revision <= locked.revision) return true
        const outcome = await withinQuota(tx, locked, unlessOvertaken(locked.job, locked.media, news))
        await settleLocked(tx, enqueue, locked, outcome, revision)
        return outcome.kind !== 'failed' && outcome.kind !== 'cancelled'
      }, signal),
    cancel: (scope, jobId, signal) =>
      db.transaction(async (tx) => {
        const locked = await lockJob(tx, jobId, scope)
        if (!locked) throw notFound('job', jobId)
        if (!stands(locked.job)) throw new DomainError('refused', 'JOB_FINISHED', 'the job has ended already')
        await settleLocked(tx, enqueue, locked, { kind: 'cancelled', message: 'cancelled on request' })
        await enqueueCancelled(enqueue, tx, locked.job)
        const [row] = await tx.query<JobRow>(`select ${COLUMNS} from job where job_id = $1`, [jobId])
        if (!row) throw new Error(`job ${jobId} went away under its lock`)
        return toJob(row)
      }, signal),
    async wanted(jobIds, signal) {
      signal?.throwIfAborted()
      return (await db.query<{ job_id: string }>(WANTED, [jobIds])).map(({ job_id }) => job_id)
    },
    async usedSets(jobIds, signal) {
      signal?.throwIfAborted()
      return (await db.query<{ prefix: string }>(USED_SETS, [jobIds])).map(({ prefix }) => prefix)
    },
  }
}

/**
 * Ends the jobs of a locked media that are under way, if there are any, and has encoding told: those that make its set, those that add
 * renditions to it, or all. What the media shows is its caller's.
 */
export async function endStandingJobs(
  tx: Transaction,
  enqueue: Enqueue,
  { mediaId, which, message }: { mediaId: string; which: 'set' | 'renditions' | 'all'; message: string },
): Promise<void> {
  const ended = await tx.query<{ job_id: string }>(
    `update job set state = 'cancelled', code = 4005, message = $2, finish_time = now()
     where media_id = $1 and state in ('queued', 'running') and ($3 = 'all' or (action = 'add_rendition') = ($3 = 'renditions'))
     returning job_id`,
    [mediaId, message, which],
  )
  for (const { job_id: jobId } of ended) await enqueueCancelled(enqueue, tx, { jobId, mediaId })
}

interface LockedJob {
  job: Job
  userId: string
  revision: number
  /** Undefined once it is deleted. */
  media: LockedMedia | undefined
}

/** A set for which the organisation has no room is a failure of its source. */
async function withinQuota(tx: Transaction, { job, media }: LockedJob, news: News): Promise<News> {
  if (news.kind !== 'published' || !media) return news
  const { bytes, durationSeconds } = news.renditions
  const made =
    job.action === 'add_rendition'
      ? { bytes, givenBack: 0, ms: 0 }
      : { bytes, givenBack: media.renditions?.bytes ?? 0, ms: Math.round(durationSeconds * 1_000) }
  const message = await overrunOf(tx, job, made)
  return message === undefined ? news : { kind: 'failed', code: TOO_LARGE, message }
}

/** Applies news to a locked job that stands, and to its media. */
async function settleLocked(
  tx: Transaction,
  enqueue: Enqueue,
  { job, media, userId }: LockedJob,
  news: News,
  revision?: number,
): Promise<void> {
  if (!media) throw new Error(`job ${job.jobId} stands, but media ${job.mediaId} does not exist`)
  const after = settle(job, media, news)
  await tx.query(
    `update job set state = $2, progress = $3, code = $4, message = $5, revision = coalesce($6, revision), news_time = now(),
       ended_since = null, start_time = case when $2 in ('running', 'ok') then coalesce(start_time, now()) else start_time end,
       finish_time = case when $2 in ('queued', 'running') then null else now() end
     where job_id = $1`,
    [job.jobId, after.job.state, after.job.progress, after.job.code, after.job.message, revision ?? null],
  )
  if (job.action === 'add_rendition') {
    // What the media shows is not its matter; a set that it was not made for never gets here.
    if (news.kind !== 'published' || !media.renditions) return
    return saveStanding(tx, job.mediaId, { ...media, renditions: await addToSet(tx, job, media.renditions, news.renditions) })
  }
  await saveStanding(tx, job.mediaId, after.media)
  const { early } = after.media
  if (early && !(media.early && fitTogether(media.early, early))) {
    await moveToNewSet(tx, job.mediaId, undefined)
    if (!media.early) await addVideoEvents(tx, 'video.playable', job, { job_id: job.jobId })
  }
  if (news.kind === 'published') {
    // Whoever watches already goes on at the same addresses, where that is the same plan's.
    if (!(media.early && fitTogether(media.early, news.renditions))) await moveToNewSet(tx, job.mediaId, media.renditions)
    await tellSuccess(tx, job, media)
    await endStandingJobs(tx, enqueue, { mediaId: job.mediaId, which: 'renditions', message: 'overtaken by a later replacement' })
    await endCountOfAdded(tx, job.mediaId)
    await startAllRenditions(tx, enqueue, { ...media, renditions: news.renditions }, userId)
  } else if (news.kind === 'failed' || news.kind === 'cancelled') {
    const { code, message } = after.job
    await addVideoEvents(tx, 'video.failed', job, { job_id: job.jobId, action: ACTIONS[job.action], code, message })
  }
}

const ACTIONS = { new_video: 'new video', replace: 'replace', add_rendition: 'add rendition' } as const

/** A media becomes playable and ready once; each later set replaces another one. */
async function tellSuccess(tx: Transaction, job: Job, before: LockedMedia): Promise<void> {
  const { jobId, mediaId, videoId, organisationId } = job
  const [earlier] = await tx.query(`select 1 from job where media_id = $1 and state = 'ok' and job_id <> $2 limit 1`, [mediaId, jobId])
  if (!before.renditions && !before.early) await addVideoEvents(tx, 'video.playable', job, { job_id: jobId })
  if (!earlier) await addVideoEvents(tx, 'video.ready', job, { job_id: jobId })
  // A replacement for an upload that failed makes the video, and replaces nothing.
  if (before.renditions) {
    const data = { video_id: videoId, media_id: mediaId, organisation_id: organisationId, job_id: jobId }
    await addEvent(tx, { type: 'media.replaced', organisationId, objectKey: `media:${mediaId}`, data })
  } else await queueSuccessMail(tx, job)
}

/** Locks a job behind its media's lock. */
async function lockJob(tx: Transaction, jobId: string, scope: Scope): Promise<LockedJob | undefined> {
  const [found] = await tx.query<{ media_id: string }>(
    'select media_id from job where job_id = $1 and ($2::bigint is null or organisation_id = $2)',
    [jobId, scope],
  )
  if (!found) return undefined
  const media = await lockMedia(tx, found.media_id, null)
  const [row] = await tx.query<JobRow & { revision: string; user_id: string }>(
    `select ${COLUMNS}, revision, user_id from job where job_id = $1 for update`,
    [jobId],
  )
  return row && { job: toJob(row), userId: row.user_id, revision: Number(row.revision), media }
}

/** A job that has ended here is under way no more; of its sets only the one is wanted that was taken first. */
async function isWantedAfter(tx: Transaction, jobId: string, news: News): Promise<boolean> {
  if (news.kind === 'progress') return false
  if (news.kind !== 'published') return (await tx.query(WANTED, [[jobId]])).length > 0
  return (await tx.query<{ prefix: string }>(USED_SETS, [[jobId]])).some(({ prefix }) => prefix === news.renditions.prefix)
}

const USED_SETS = `
  select renditions ->> 'prefix' as prefix from media where set_job_id = any($1::bigint[])
  union select prefix from delivery_set where job_id = any($1::bigint[]) and expire_time > now()
  union select a.prefix from added_rendition a where a.job_id = any($1::bigint[]) and ${ADDED_IS_USED}`

const WANTED = `
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
