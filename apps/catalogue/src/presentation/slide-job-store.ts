import { DomainError, invalid, notFound } from '@vitascope/errors'
import type { Db, Transaction } from '@vitascope/postgres'
import { addEvent } from '../notification/event/event-store.ts'
import type { Enqueue } from '../publishing/job/job-messages.ts'
import { TOO_LARGE } from '../publishing/media/status.ts'
import { findSlidesOverrun, type QuotaJob, reserve } from '../quota/reserve.ts'
import { newRandomId } from '../rules/id.ts'
import type { PresentationState } from './presentation.ts'
import { lockPresentation } from './presentation-row.ts'
import { insertPresentation } from './presentation-store.ts'
import { applySlideUpdate, initialState, type SlideJobState, type SlideSet, type SlideUpdate } from './slide-job.ts'
import { enqueueSlides } from './slide-job-messages.ts'

/** A stored file from which slides are made. */
export interface SlideSource {
  /** Empty if the file creates a presentation. */
  presentationId: string
  organisationId: string
  userId: string
  filename: string
  /** Title of a new presentation. */
  title: string
  sourceObject: string
  sourceBytes: number
  /** Id of the upload of the file, whose reservation of quota the job replaces. */
  uploadId?: string | undefined
}

export interface SlideJobStore {
  /**
   * Accepts a file: stores presentation, job and outbox message in one transaction. A repeated call for
   * the same object returns the existing job. Throws PRESENTATION_NOT_FOUND, PRESENTATION_BUSY and quota errors.
   */
  add(source: SlideSource, signal?: AbortSignal): Promise<{ presentationId: string; jobId: string }>
  /**
   * Applies an update to an active job. A progress update needs a revision above the last one.
   * Returns whether the job is still needed, or undefined if the job never existed.
   */
  apply(jobId: string, update: SlideUpdate, revision: number | undefined, signal?: AbortSignal): Promise<boolean | undefined>
  /** Returns the jobs that are active or whose slides a presentation has. */
  findNeeded(jobIds: readonly string[], signal?: AbortSignal): Promise<string[]>
  /** Returns the prefixes of the jobs' slides that a presentation has. */
  findUsedPrefixes(jobIds: readonly string[], signal?: AbortSignal): Promise<string[]>
}

export function createSlideJobStore(db: Db, enqueue: Enqueue): SlideJobStore {
  return {
    add: (source, signal) => db.transaction((tx) => addSlides(tx, enqueue, source), signal),
    apply: (jobId, update, revision, signal) =>
      db.transaction(async (tx) => {
        const [jobRow] = await tx.query<{ presentation_id: string }>('select presentation_id from presentation_job where job_id = $1', [
          jobId,
        ])
        if (!jobRow) return undefined
        const presentation = await lockPresentation(tx, jobRow.presentation_id)
        const [job] = await tx.query<{ state: SlideJobState; revision: string }>(
          'select state, revision from presentation_job where job_id = $1 for update',
          [jobId],
        )
        const isActive = job?.state === 'queued' || job?.state === 'running'
        if (!presentation || !isActive) return isNeededAfter(tx, jobId, update)
        if (update.kind === 'progress' && revision !== undefined && revision <= Number(job.revision)) return true
        const outcome = await failIfOverQuota(tx, { jobId, organisationId: presentation.organisationId }, update)
        const { state, processing, newSlides } = applySlideUpdate(presentation.processing, presentation.slides.length, outcome)
        await tx.query(
          `update presentation_job set state = $2, revision = coalesce($3, revision), check_time = now(), ended_since = null,
             finish_time = case when $2 in ('queued', 'running') then null else now() end
           where job_id = $1`,
          [jobId, state, revision ?? null],
        )
        await saveState(tx, presentation.presentationId, processing)
        if (newSlides) {
          await insertSet(tx, presentation.presentationId, newSlides)
          await emitReady(tx, presentation, jobId, presentation.slides.length + newSlides.slides.length)
        }
        return state === 'running' || state === 'ok'
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

/** Returns the update, or a failure if the slides exceed the organisation's quota. */
async function failIfOverQuota(tx: Transaction, job: QuotaJob, update: SlideUpdate): Promise<SlideUpdate> {
  const message = update.kind === 'slides' ? await findSlidesOverrun(tx, job, update.set.bytes) : undefined
  return message === undefined ? update : { kind: 'failed', code: TOO_LARGE, message }
}

async function addSlides(tx: Transaction, enqueue: Enqueue, source: SlideSource): Promise<{ presentationId: string; jobId: string }> {
  const { organisationId, userId, filename, title, sourceObject, sourceBytes, uploadId } = source
  const existing = await findExistingJob(tx, source)
  if (existing) return existing
  const isNew = source.presentationId === ''
  const presentationId = isNew ? newRandomId() : source.presentationId
  if (isNew) await insertPresentation(tx, presentationId, { organisationId, userId, videoId: '', title, description: '' })
  const presentation = await lockPresentation(tx, presentationId)
  if (!presentation || presentation.organisationId !== organisationId) throw notFound('presentation', presentationId)
  if (presentation.processing.state === 'processing') {
    throw new DomainError(
      'conflict',
      'PRESENTATION_BUSY',
      'a file of this presentation is being processed; add the next one when it has ended',
    )
  }
  const reserved = await reserve(tx, organisationId, { bytes: sourceBytes, releasedBytes: 0, isEncoded: false, uploadId })
  const [job] = await tx.query<{ job_id: string }>(
    `insert into presentation_job (presentation_id, organisation_id, state, source_object, source_bytes, filename, reserved_bytes, quota_bytes)
     values ($1, $2, 'queued', $3, $4, $5, $6, $7) on conflict (source_object) do nothing returning job_id`,
    [presentationId, organisationId, sourceObject, sourceBytes, filename, reserved.bytes, reserved.quotaBytes],
  )
  // A concurrent call has just added the same object. The transaction is rolled back, and a retry
  // returns the other call's result.
  if (!job) throw new DomainError('conflict', 'SLIDES_RUNNING', 'this file is being added by another request; try again', { retryAfter: 1 })
  await saveState(tx, presentationId, initialState())
  if (presentation.slides.length === 0) {
    await tx.query('update presentation set filename = $2 where presentation_id = $1', [presentationId, filename])
  }
  await enqueueSlides(enqueue, tx, { jobId: job.job_id, presentationId, organisationId, sourceObject, sourceBytes })
  return { presentationId, jobId: job.job_id }
}

/** Returns the existing job of an object. Throws `invalid` if the job belongs to another presentation. */
async function findExistingJob(tx: Transaction, { sourceObject, presentationId, organisationId }: SlideSource) {
  const [job] = await tx.query<{ job_id: string; presentation_id: string; organisation_id: string }>(
    'select job_id, presentation_id, organisation_id from presentation_job where source_object = $1',
    [sourceObject],
  )
  if (!job) return undefined
  const isSame = job.organisation_id === organisationId && (presentationId === '' || presentationId === job.presentation_id)
  if (!isSame) throw invalid([{ field: 'source_object', message: 'was added to another presentation' }])
  return { presentationId: job.presentation_id, jobId: job.job_id }
}

async function saveState(tx: Transaction, presentationId: string, { state, progress, code, reason }: PresentationState): Promise<void> {
  await tx.query('update presentation set state = $2, progress = $3, code = $4, reason = $5 where presentation_id = $1', [
    presentationId,
    state,
    progress,
    code,
    reason,
  ])
}

/** Appends the new slides to the others, without timings. */
async function insertSet(tx: Transaction, presentationId: string, { jobId, prefix, slides, documentPath, bytes }: SlideSet): Promise<void> {
  await tx.query('insert into slide_set (job_id, presentation_id, prefix, slides, document_path, bytes) values ($1, $2, $3, $4, $5, $6)', [
    jobId,
    presentationId,
    prefix,
    JSON.stringify(slides),
    documentPath,
    bytes,
  ])
  await tx.query('update presentation set seconds = seconds || array_fill(null::int, array[$2::int]) where presentation_id = $1', [
    presentationId,
    slides.length,
  ])
}

/**
 * Emits `presentation.ready` when slides are published. The slides may still lack timings.
 */
function emitReady(
  tx: Transaction,
  { presentationId, organisationId, videoId }: ReadyPresentation,
  jobId: string,
  slides: number,
): Promise<void> {
  const data = {
    presentation_id: presentationId,
    organisation_id: organisationId,
    video_id: videoId,
    job_id: jobId,
    number_of_slides: slides,
  }
  return addEvent(tx, { type: 'presentation.ready', organisationId, objectKey: `presentation:${presentationId}`, data })
}

interface ReadyPresentation {
  presentationId: string
  organisationId: string
  videoId: string
}

/** Returns whether a job that has ended is still needed. A reported set is needed if it is the accepted one. */
async function isNeededAfter(tx: Transaction, jobId: string, update: SlideUpdate): Promise<boolean> {
  if (update.kind === 'progress') return false
  if (update.kind !== 'slides') return (await tx.query(FIND_NEEDED, [[jobId]])).length > 0
  return (await tx.query<{ prefix: string }>(FIND_USED_PREFIXES, [[jobId]])).some(({ prefix }) => prefix === update.set.prefix)
}

const FIND_USED_PREFIXES = 'select prefix from slide_set where job_id = any($1::bigint[])'

const FIND_NEEDED = `
  select j.job_id from presentation_job j
  where j.job_id = any($1::bigint[])
    and (j.state in ('queued', 'running') or exists (select from slide_set s where s.job_id = j.job_id))
  order by j.job_id`
