import { notFound } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import { type Db, jsonCodec, once, type Transaction } from '@vitascope/postgres'
import type { Enqueue } from '../job/job-messages.ts'
import { lockMedia } from '../media/media-lock.ts'
import type { Scope } from '../visibility.ts'
import { endSlideJobs } from './end-slide-jobs.ts'
import type { Presentation, PresentationFields } from './presentation.ts'
import { lockPresentation, type PresentationRow, SELECT_PRESENTATION, toPresentation } from './presentation-row.ts'

export interface PresentationKey {
  scope: Scope
  presentationId: string
}

/** Those that change refuse with PRESENTATION_NOT_FOUND, and with VIDEO_NOT_FOUND for a video that is not of the organisation. */
export interface PresentationStore {
  find(key: PresentationKey, signal?: AbortSignal): Promise<Presentation | undefined>
  /** One that anybody may see. */
  findPublic(presentationId: string, signal?: AbortSignal): Promise<Presentation | undefined>
  create(presentationId: string, fields: PresentationFields, call: Pick<Call, 'idempotency' | 'signal'>): Promise<Presentation>
  /** Locks the presentation and stores what `change` makes of its fields and of the seconds of its slides. */
  update(key: PresentationKey, change: (now: Presentation) => Presentation, signal?: AbortSignal): Promise<Presentation>
  /** Removes it with its slides and ends its jobs: encoding drops the files of what is gone. */
  remove(key: PresentationKey, signal?: AbortSignal): Promise<void>
}

const FIND = `${SELECT_PRESENTATION} where p.presentation_id = $1 and ($2::bigint is null or p.organisation_id = $2)`

/** Who may see the video of a presentation may see the presentation; a video that is gone lets nobody in. */
export const IS_OPEN = `o.active and (p.video_id is null or (v.video_id is not null and v.enabled and (v.expire_time is null or v.expire_time > now())))`

const FIND_PUBLIC = `${SELECT_PRESENTATION} join organisation o on o.organisation_id = p.organisation_id
  left join video v on v.video_id = p.video_id and v.organisation_id = p.organisation_id where p.presentation_id = $1 and ${IS_OPEN}`

export function createPresentationStore(db: Db, enqueue: Enqueue): PresentationStore {
  const one = async (text: string, values: readonly unknown[], signal?: AbortSignal) => {
    signal?.throwIfAborted()
    const [row] = await db.query<PresentationRow>(text, values)
    return row && toPresentation(row)
  }
  return {
    find: ({ scope, presentationId }, signal) => one(FIND, [presentationId, scope], signal),
    findPublic: (presentationId, signal) => one(FIND_PUBLIC, [presentationId], signal),
    create: async (presentationId, fields, call) => {
      const row = await once(db, call, jsonCodec<PresentationRow>(), async (tx) => {
        await insertPresentation(tx, presentationId, fields)
        if (fields.videoId !== '') await linkVideo(tx, presentationId, fields)
        const [made] = await tx.query<PresentationRow>(FIND, [presentationId, null])
        if (!made) throw new Error(`presentation ${presentationId} went away as it was made`)
        return made
      })
      // One that was kept has its time as text.
      return toPresentation({ ...row, create_time: new Date(row.create_time) })
    },
    update: (key, change, signal) =>
      db.transaction(async (tx) => {
        const before = await needPresentation(tx, key)
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
        const presentation = await needPresentation(tx, key)
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

/** A video that begins to name a presentation without a video becomes its video: what is protected there is protected here. */
export async function adoptPresentation(tx: Transaction, video: { videoId: string; organisationId: string; presentationId: string }) {
  await tx.query('update presentation set video_id = $1 where presentation_id = $2 and organisation_id = $3 and video_id is null', [
    video.videoId,
    video.presentationId,
    video.organisationId,
  ])
}

/**
 * Has the video name the presentation. Here the presentation is locked before the video, in a change of a video after it: two such that meet
 * are a deadlock, which PostgreSQL ends and the transaction tries again.
 */
async function linkVideo(tx: Transaction, presentationId: string, { videoId, organisationId }: PresentationFields): Promise<void> {
  const [video] = await tx.query<{ media_id: string }>('select media_id from video where video_id = $1 and organisation_id = $2', [
    videoId,
    organisationId,
  ])
  if (!video || !(await lockMedia(tx, video.media_id, organisationId))) throw notFound('video', videoId)
  await tx.query('update video set presentation_id = $1 where video_id = $2', [presentationId, videoId])
}

async function unlinkVideos(tx: Transaction, { presentationId, organisationId }: Presentation): Promise<void> {
  await tx.query(
    `update video set presentation_id = '' where presentation_id = $1::text and presentation_id <> '' and organisation_id = $2`,
    [presentationId, organisationId],
  )
}

async function needPresentation(tx: Transaction, { scope, presentationId }: PresentationKey): Promise<Presentation> {
  const presentation = await lockPresentation(tx, presentationId)
  if (!presentation || (scope !== null && presentation.organisationId !== scope)) throw notFound('presentation', presentationId)
  return presentation
}
