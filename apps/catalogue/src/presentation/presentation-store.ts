import { notFound } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import { type Db, jsonCodec, type Transaction, withIdempotency } from '@vitascope/postgres'
import type { Scope } from '@vitascope/principal'
import type { Enqueue } from '../publishing/job/job-messages.ts'
import { lockMedia } from '../publishing/media/media-lock.ts'
import type { Presentation, PresentationFields } from './presentation.ts'
import { lockPresentation, type PresentationRow, SELECT_PRESENTATION, toPresentation } from './presentation-row.ts'
import type { SlideJobState } from './slide-job.ts'
import { enqueueSlidesCancelled } from './slide-job-messages.ts'

export interface PresentationKey {
  scope: Scope
  presentationId: string
}

/**
 * Methods that change a presentation throw PRESENTATION_NOT_FOUND, and VIDEO_NOT_FOUND if the video
 * is not in its organisation.
 */
export interface PresentationStore {
  find(key: PresentationKey, signal?: AbortSignal): Promise<Presentation | undefined>
  /** Returns the presentation if it is public. */
  findPublic(presentationId: string, signal?: AbortSignal): Promise<Presentation | undefined>
  create(presentationId: string, fields: PresentationFields, call: Pick<Call, 'idempotency' | 'signal'>): Promise<Presentation>
  /** Locks the presentation and stores the fields and the slide timings that `change` returns. */
  update(key: PresentationKey, change: (current: Presentation) => Presentation, signal?: AbortSignal): Promise<Presentation>
  /** Deletes the presentation with its slides and ends its jobs. Encoding deletes their files. */
  remove(key: PresentationKey, signal?: AbortSignal): Promise<void>
}

const FIND = `${SELECT_PRESENTATION} where p.presentation_id = $1 and ($2::bigint is null or p.organisation_id = $2)`

/**
 * SQL condition of a public presentation: its organisation is active, and it has no video, or its
 * video is enabled, not private and not expired. If its video was deleted, it is not public.
 */
export const IS_PUBLIC = `o.active and (p.video_id is null or (v.video_id is not null and v.enabled and v.visibility <> 'private' and (v.expire_time is null or v.expire_time > now())))`

const FIND_PUBLIC = `${SELECT_PRESENTATION} join organisation o on o.organisation_id = p.organisation_id
  left join video v on v.video_id = p.video_id and v.organisation_id = p.organisation_id where p.presentation_id = $1 and ${IS_PUBLIC}`

export function createPresentationStore(db: Db, enqueue: Enqueue): PresentationStore {
  const findOne = async (text: string, values: readonly unknown[], signal?: AbortSignal) => {
    signal?.throwIfAborted()
    const [row] = await db.query<PresentationRow>(text, values)
    return row && toPresentation(row)
  }
  return {
    find: ({ scope, presentationId }, signal) => findOne(FIND, [presentationId, scope], signal),
    findPublic: (presentationId, signal) => findOne(FIND_PUBLIC, [presentationId], signal),
    create: async (presentationId, fields, call) => {
      const row = await withIdempotency(db, call, jsonCodec<PresentationRow>(), async (tx) => {
        await insertPresentation(tx, presentationId, fields)
        if (fields.videoId !== '') await linkVideo(tx, presentationId, fields)
        const [created] = await tx.query<PresentationRow>(FIND, [presentationId, null])
        if (!created) throw new Error(`presentation ${presentationId} disappeared while it was created`)
        return created
      })
      // A stored idempotent response has the time as a string.
      return toPresentation({ ...row, create_time: new Date(row.create_time) })
    },
    update: (key, change, signal) =>
      db.transaction(async (tx) => {
        const before = await requirePresentation(tx, key)
        const after = change(before)
        if (after.videoId !== before.videoId || after.organisationId !== before.organisationId) {
          await unlinkVideos(tx, before)
          if (after.videoId !== '') await linkVideo(tx, before.presentationId, after)
        }
        await tx.query(
          `update presentation set organisation_id = $2, user_id = $3, video_id = nullif($4, '')::bigint, title = $5, description = $6, seconds = $7
           where presentation_id = $1`,
          [
            before.presentationId,
            after.organisationId,
            after.userId,
            after.videoId,
            after.title,
            after.description,
            after.slides.map(({ seconds }) => seconds ?? null),
          ],
        )
        return after
      }, signal),
    remove: (key, signal) =>
      db.transaction(async (tx) => {
        const presentation = await requirePresentation(tx, key)
        await endSlideJobs(tx, enqueue, presentation.presentationId)
        await unlinkVideos(tx, presentation)
        await tx.query('delete from presentation where presentation_id = $1', [presentation.presentationId])
      }, signal),
  }
}

export async function insertPresentation(tx: Transaction, presentationId: string, fields: PresentationFields): Promise<void> {
  await tx.query(
    `insert into presentation (presentation_id, organisation_id, user_id, video_id, title, description)
     values ($1, $2, $3, nullif($4, '')::bigint, $5, $6)`,
    [presentationId, fields.organisationId, fields.userId, fields.videoId, fields.title, fields.description],
  )
}

/**
 * If the presentation has no video yet, the video that references it becomes its video. The
 * protection of that video then applies to the presentation.
 */
export async function adoptPresentation(tx: Transaction, video: { videoId: string; organisationId: string; presentationId: string }) {
  await tx.query('update presentation set video_id = $1 where presentation_id = $2 and organisation_id = $3 and video_id is null', [
    video.videoId,
    video.presentationId,
    video.organisationId,
  ])
}

/**
 * Makes the video reference the presentation. Here the presentation is locked before the video; a
 * change of a video locks them in the opposite order. PostgreSQL resolves the possible deadlock,
 * and the transaction is retried.
 */
async function linkVideo(tx: Transaction, presentationId: string, { videoId, organisationId }: PresentationFields): Promise<void> {
  const [video] = await tx.query<{ media_id: string }>('select media_id from video where video_id = $1 and organisation_id = $2', [
    videoId,
    organisationId,
  ])
  if (!video || !(await lockMedia(tx, video.media_id, organisationId))) throw notFound('video', videoId)
  await tx.query('update video set presentation_id = $1, update_time = clock_timestamp() where video_id = $2', [presentationId, videoId])
}

/**
 * Removes the references of videos to a presentation. Locks their media first: a concurrent change of a video stores all
 * of its fields, and would store the reference again.
 */
async function unlinkVideos(tx: Transaction, { presentationId, organisationId }: Presentation): Promise<void> {
  await tx.query(
    `select from media where media_id in (
       select media_id from video where presentation_id = $1::text and presentation_id <> '' and organisation_id = $2)
     order by media_id for update`,
    [presentationId, organisationId],
  )
  await tx.query(
    `update video set presentation_id = '', update_time = clock_timestamp()
     where presentation_id = $1::text and presentation_id <> '' and organisation_id = $2`,
    [presentationId, organisationId],
  )
}

/**
 * Ends the jobs of a locked presentation that is being deleted. An active job is cancelled, and
 * encoding deletes the files of the others.
 */
async function endSlideJobs(tx: Transaction, enqueue: Enqueue, presentationId: string): Promise<void> {
  const jobs = await tx.query<{ job_id: string; state: SlideJobState }>(
    `update presentation_job set source_object = null, finish_time = coalesce(finish_time, now()),
       state = case when state in ('queued', 'running') then 'cancelled' else state end
     where presentation_id = $1 returning job_id, state`,
    [presentationId],
  )
  for (const { job_id: jobId, state } of jobs) if (state !== 'failed') await enqueueSlidesCancelled(enqueue, tx, { jobId, presentationId })
}

async function requirePresentation(tx: Transaction, { scope, presentationId }: PresentationKey): Promise<Presentation> {
  const presentation = await lockPresentation(tx, presentationId)
  if (!presentation || (scope !== null && presentation.organisationId !== scope)) throw notFound('presentation', presentationId)
  return presentation
}
