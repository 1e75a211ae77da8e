import { DomainError, invalid } from '@vitascope/errors'
import type { Db, Transaction } from '@vitascope/postgres'
import { type Enqueue, enqueueCancelled } from '../publishing/job/job-messages.ts'
import { lockMedia } from '../publishing/media/media-lock.ts'
import { lockVideo, recordChange, type VideoKey } from '../publishing/media/video-lock.ts'
import {
  applyPosterUpdate,
  isActive,
  POSTER_OF_VIDEO,
  type Poster,
  type PosterJob,
  type PosterJobState,
  type PosterRow,
  type PosterSet,
  type PosterSource,
  type PosterUpdate,
  toPoster,
} from './poster.ts'
import { enqueuePoster } from './poster-job-messages.ts'

export interface PosterStore {
  /**
   * Accepts a picture: stores it with its job and the outbox message in one transaction, and returns the job id. The images that
   * the video shows are kept. An active job of the video is cancelled. Throws VIDEO_NOT_FOUND, VIDEO_NOT_READY and
   * INVALID_INPUT.
   */
  set(key: VideoKey, userId: string, source: PosterSource, signal?: AbortSignal): Promise<string>
  /** Returns the job `jobId` if it is the job of the last picture of the video, otherwise undefined. */
  findJob(videoId: string, jobId: string, signal?: AbortSignal): Promise<PosterJob | undefined>
  /** Returns the picture of a video, or undefined if there is none. */
  find(videoId: string, signal?: AbortSignal): Promise<Poster | undefined>
  /** Removes the picture of a video and cancels its job. Throws VIDEO_NOT_FOUND. */
  remove(key: VideoKey, userId: string, signal?: AbortSignal): Promise<void>
  /**
   * Applies an update to an active job. A progress update needs a revision above the last one. Returns whether the job is still
   * needed, or undefined if no video has it.
   */
  apply(jobId: string, update: PosterUpdate, revision: number | undefined, signal?: AbortSignal): Promise<boolean | undefined>
  /** Returns the jobs that are active, or whose images a video shows or are still served. */
  findNeeded(jobIds: readonly string[], signal?: AbortSignal): Promise<string[]>
  /** Returns the prefixes of the jobs' images that a video shows. */
  findUsedPrefixes(jobIds: readonly string[], signal?: AbortSignal): Promise<string[]>
}

export function createPosterStore(db: Db, enqueue: Enqueue): PosterStore {
  return {
    set: (key, userId, source, signal) => db.transaction((tx) => setPoster(tx, enqueue, { key, userId, source }), signal),
    async findJob(videoId, jobId, signal) {
      signal?.throwIfAborted()
      const [row] = await db.query<PosterJob>('select state, code, message from poster where video_id = $1 and job_id = $2', [
        videoId,
        jobId,
      ])
      return row
    },
    async find(videoId, signal) {
      signal?.throwIfAborted()
      const [row] = await db.query<{ poster: PosterRow | null }>(`select ${POSTER_OF_VIDEO} as poster from video v where v.video_id = $1`, [
        videoId,
      ])
      return row?.poster ? toPoster(row.poster) : undefined
    },
    remove: (key, userId, signal) =>
      db.transaction(async (tx) => {
        const { videoId } = await lockVideo(tx, key)
        await cancelActive(tx, enqueue, videoId)
        const removed = await tx.query('delete from poster where video_id = $1 returning 1', [videoId])
        if (removed.length > 0) await recordChange(tx, videoId, userId)
      }, signal),
    apply: (jobId, update, revision, signal) =>
      db.transaction(async (tx) => {
        const found = await lockJob(tx, jobId)
        if (!found) return isShown(tx, jobId, update)
        const { videoId, job } = found
        if (!isActive(job)) return update.kind === 'progress' ? false : ((await isShown(tx, jobId, update)) ?? false)
        if (update.kind === 'progress' && revision !== undefined && revision <= job.revision) return true
        await saveJob(tx, jobId, applyPosterUpdate(update), revision)
        if (update.kind === 'created') await showImages(tx, videoId, update.set)
        return update.kind !== 'failed'
      }, signal),
    async findNeeded(jobIds, signal) {
      signal?.throwIfAborted()
      const rows = await db.query<{ job_id: string }>(
        `select job_id from poster where job_id = any($1::bigint[]) and state in ('queued', 'running')
         union select set_job_id from poster where set_job_id = any($1::bigint[])
         union select job_id from delivery_set where job_id = any($1::bigint[]) and expire_time > now()`,
        [jobIds],
      )
      return rows.map(({ job_id }) => job_id)
    },
    async findUsedPrefixes(jobIds, signal) {
      signal?.throwIfAborted()
      const rows = await db.query<{ prefix: string }>('select prefix from poster where set_job_id = any($1::bigint[])', [jobIds])
      return rows.map(({ prefix }) => prefix)
    },
  }
}

async function setPoster(
  tx: Transaction,
  enqueue: Enqueue,
  { key, userId, source }: { key: VideoKey; userId: string; source: PosterSource },
): Promise<string> {
  const { videoId, mediaId, organisationId } = await lockVideo(tx, key)
  const frame = source.kind === 'frame' ? await findFrame(tx, mediaId, source.atSeconds) : undefined
  const sourceUrl = source.kind === 'url' ? source.url : undefined
  await cancelActive(tx, enqueue, videoId)
  const [row] = await tx.query<{ job_id: string }>(
    `insert into poster (video_id, media_id, organisation_id, job_id, source_url, source_set_job_id, at_seconds, state)
     values ($1, $2, $3, nextval('job_job_id_seq'), $4, $5, $6, 'queued')
     on conflict (video_id) do update set job_id = excluded.job_id, source_url = excluded.source_url,
       source_set_job_id = excluded.source_set_job_id, at_seconds = excluded.at_seconds, state = 'queued', code = 0, message = '',
       revision = -1, check_time = now(), ended_since = null, send_count = 0
     returning job_id`,
    [videoId, mediaId, organisationId, sourceUrl, frame?.setJobId, frame?.atSeconds],
  )
  if (!row) throw new Error('the insert of a poster returned no row')
  await recordChange(tx, videoId, userId)
  await enqueuePoster(enqueue, tx, { jobId: row.job_id, mediaId, organisationId, sourceUrl, frame })
  return row.job_id
}

/** Returns a frame of the current set of a locked media. Throws if it has no picture at this time. */
async function findFrame(tx: Transaction, mediaId: string, atSeconds: number): Promise<{ setJobId: string; atSeconds: number }> {
  const set = (await lockMedia(tx, mediaId, null))?.renditions
  if (!set?.hasVideo)
    throw new DomainError('failed_precondition', 'VIDEO_NOT_READY', 'the video has no frames yet: try again when it is encoded')
  if (atSeconds > set.durationSeconds) {
    throw invalid([{ field: 'at_seconds', message: `must be at most ${set.durationSeconds}, the duration of the video` }])
  }
  return { setJobId: set.jobId, atSeconds }
}

async function cancelActive(tx: Transaction, enqueue: Enqueue, videoId: string): Promise<void> {
  const [active] = await tx.query<{ job_id: string; media_id: string }>(
    `select job_id, media_id from poster where video_id = $1 and state in ('queued', 'running')`,
    [videoId],
  )
  if (active) await enqueueCancelled(enqueue, tx, { jobId: active.job_id, mediaId: active.media_id })
}

interface LockedPosterJob {
  videoId: string
  job: { state: PosterJobState; revision: number }
}

/** Locks the media, then the job of the last picture of one of its videos. */
async function lockJob(tx: Transaction, jobId: string): Promise<LockedPosterJob | undefined> {
  const [jobRow] = await tx.query<{ media_id: string }>('select media_id from poster where job_id = $1', [jobId])
  if (!jobRow) return undefined
  await lockMedia(tx, jobRow.media_id, null)
  const [row] = await tx.query<{ video_id: string; state: PosterJobState; revision: string }>(
    'select video_id, state, revision from poster where job_id = $1 for update',
    [jobId],
  )
  return row && { videoId: row.video_id, job: { state: row.state, revision: Number(row.revision) } }
}

function saveJob(tx: Transaction, jobId: string, { state, code, message }: PosterJob, revision: number | undefined) {
  return tx.query(
    `update poster set state = $2, code = $3, message = $4, revision = coalesce($5, revision), check_time = now(), ended_since = null
     where job_id = $1`,
    [jobId, state, code, message, revision ?? null],
  )
}

/** Publishes images. A video without files gets its first delivery version, under which the images are served. */
async function showImages(tx: Transaction, videoId: string, { jobId, prefix, poster, thumbnail }: PosterSet): Promise<void> {
  await tx.query('update poster set set_job_id = $2, prefix = $3, images = $4 where video_id = $1', [
    videoId,
    jobId,
    prefix,
    JSON.stringify({ poster, thumbnail }),
  ])
  await tx.query(`update video set delivery_version = new_delivery_version() where video_id = $1 and delivery_version = ''`, [videoId])
}

/**
 * Returns true if a video shows the images of the job, otherwise undefined. If the update contains images, they must
 * be the shown ones: reports may be repeated.
 */
async function isShown(tx: Transaction, jobId: string, update: PosterUpdate): Promise<true | undefined> {
  const [row] = await tx.query<{ prefix: string }>('select prefix from poster where set_job_id = $1', [jobId])
  return row && (update.kind !== 'created' || update.set.prefix === row.prefix) ? true : undefined
}
