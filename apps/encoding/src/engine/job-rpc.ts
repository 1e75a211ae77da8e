import { DomainError, type FieldError, invalid, notFound, requireValid } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import type { Db } from '@vitascope/postgres'
import { canSee, requireService } from '@vitascope/principal'
import type {
  CreateJobRequest,
  CreatePosterJobRequest,
  CreateRenditionJobRequest,
  CreateSlideJobRequest,
  JobServiceService,
} from '@vitascope/proto/encoding/v1/job'
import { isId } from '@vitascope/request'
import { isObjectName } from '@vitascope/storage'
import { readJobProgress } from '../job/chunk-speed.ts'
import type { NewJob } from '../job/job.ts'
import { toMessage } from '../job/job-message.ts'
import { readJob } from '../job/job-store.ts'
import { readProfile } from '../rendition/rendition-profile.ts'
import { findKeptSource, findSetFile, findSetSource } from '../rendition/set-source.ts'
import { formatSource, readUploadSource } from '../upload/upload-source.ts'
import type { UploadStore } from '../upload/upload-store.ts'
import type { JobCommands } from './accept-job.ts'

interface Tools {
  db: Db
  jobs: JobCommands
  uploads: Pick<UploadStore, 'findById'>
}

export function jobHandlers({ db, jobs, uploads }: Tools): Handlers<typeof JobServiceService> {
  return {
    async createJob(request, { principal, signal }) {
      requireService(principal)
      await jobs.accept(toNewJob(request), signal)
      return {}
    },
    async createSlideJob(request, { principal, signal }) {
      requireService(principal)
      await jobs.accept(toNewSlideJob(request), signal)
      return {}
    },
    async createRenditionJob(request, { principal, signal }) {
      requireService(principal)
      const job = toNewRenditionJob(request)
      const existing = await readJob(db.query, job.jobId)
      // A repeated request: the set may have been dropped since.
      if (existing?.mediaId === job.mediaId) return {}
      await jobs.accept({ ...job, source: await findSetSource(db.query, job) }, signal)
      return {}
    },
    async createPosterJob(request, { principal, signal }) {
      requireService(principal)
      const job = toNewPosterJob(request)
      const existing = await readJob(db.query, job.jobId)
      // A repeated request: the upload or the set may have been dropped since.
      if (existing?.mediaId === job.mediaId) return {}
      await jobs.accept(await withStoredPicture({ db, uploads }, job, request.source), signal)
      return {}
    },
    async getJob({ jobId }, { principal }) {
      const job = isId(jobId) ? await readJob(db.query, jobId) : undefined
      // A job that was cancelled before it was accepted has no owner, so it is not shown.
      if (!job || job.mediaId === '' || !canSee(principal, job.organisationId)) throw notFound('job', jobId)
      return { job: toMessage(job, await readJobProgress(db.query, job)) }
    },
    async cancelJob({ jobId }, { principal, signal }) {
      requireService(principal)
      if (isId(jobId)) await jobs.cancel(jobId, signal)
      return {}
    },
    async repeatReport({ jobId }, { principal, signal }) {
      requireService(principal)
      if (isId(jobId)) await jobs.repeatReport(jobId, signal)
      return {}
    },
    async findSource({ jobId }, { principal }) {
      requireService(principal)
      const source = isId(jobId) ? await findKeptSource(db.query, jobId) : undefined
      if (!source) throw notFound('source', jobId)
      return { object: source.object, bytes: source.bytes }
    },
  }
}

const MAX_URL_LENGTH = 8_192

/**
 * Validates a request. Ids become parts of object names. The URL itself was checked when it was
 * accepted, and each resolved address is checked at download.
 */
function toNewJob({ jobId, mediaId, organisationId, sourceUrl, maxBytes, maxSeconds, lowPriority }: CreateJobRequest): NewJob {
  const fields = checkIds(jobId, { media_id: mediaId }, organisationId)
  const upload = readUploadSource(sourceUrl)
  if (!upload) fields.push(...checkSourceUrl(sourceUrl))
  requireValid(fields)
  const source = upload ? formatSource(upload) : sourceUrl
  return { jobId, kind: 'renditions', mediaId, organisationId, sourceUrl: source, maxBytes, maxSeconds, lowPriority }
}

function toNewSlideJob({ jobId, presentationId, organisationId, sourceObject, sourceBytes }: CreateSlideJobRequest): NewJob {
  const fields = checkIds(jobId, { presentation_id: presentationId }, organisationId)
  if (!isObjectName(sourceObject)) fields.push({ field: 'source_object', message: 'must be the name of an object' })
  if (sourceBytes < 1) fields.push({ field: 'source_bytes', message: 'must be greater than 0' })
  requireValid(fields)
  const source = { object: sourceObject, bytes: sourceBytes, sha256: '' }
  return { jobId, kind: 'slides', mediaId: presentationId, organisationId, sourceUrl: '', source }
}

function toNewRenditionJob({ jobId, mediaId, organisationId, setJobId, profile, maxBytes, lowPriority }: CreateRenditionJobRequest) {
  const fields = checkIds(jobId, { media_id: mediaId }, organisationId)
  if (!isId(setJobId)) fields.push({ field: 'set_job_id', message: 'must be an integer greater than 0' })
  const rendition = readProfile(profile)
  if (Array.isArray(rendition)) throw invalid([...fields, ...rendition])
  requireValid(fields)
  return { jobId, kind: 'rendition' as const, mediaId, organisationId, sourceUrl: '', setJobId, rendition, maxBytes, lowPriority }
}

/** Maximum time of a frame in a video: one week. */
const MAX_FRAME_SECONDS = 604_800

function toNewPosterJob({ jobId, mediaId, organisationId, source }: CreatePosterJobRequest): NewJob {
  const fields = checkIds(jobId, { media_id: mediaId }, organisationId)
  if (!source) fields.push({ field: 'source', message: 'is missing' })
  if (source?.$case === 'sourceUrl' && !readUploadSource(source.value)) fields.push(...checkSourceUrl(source.value))
  if (source?.$case === 'frame') {
    const { setJobId, atSeconds } = source.value
    if (!isId(setJobId)) fields.push({ field: 'frame.set_job_id', message: 'must be an integer greater than 0' })
    if (!(atSeconds >= 0 && atSeconds <= MAX_FRAME_SECONDS))
      fields.push({ field: 'frame.at_seconds', message: `must be 0 to ${MAX_FRAME_SECONDS}` })
  }
  requireValid(fields)
  return { jobId, kind: 'poster', mediaId, organisationId, sourceUrl: '' }
}

/**
 * Returns the job with its source: the object of an upload, a file of a set, or a URL to download.
 */
async function withStoredPicture(
  { db, uploads }: Pick<Tools, 'db' | 'uploads'>,
  job: NewJob,
  source: CreatePosterJobRequest['source'],
): Promise<NewJob> {
  if (source?.$case === 'frame') {
    const { setJobId, atSeconds } = source.value
    return { ...job, setJobId, atSeconds, source: await findSetFile(db.query, { setJobId, mediaId: job.mediaId }) }
  }
  const url = source?.value ?? ''
  const uploaded = readUploadSource(url)
  if (!uploaded) return { ...job, sourceUrl: url }
  const upload = uploaded.kind === 'upload' ? await uploads.findById(uploaded.uploadId) : undefined
  if (upload?.bytes === undefined || upload.organisationId !== job.organisationId)
    throw new DomainError('invalid', 'UPLOAD_GONE', 'the uploaded picture no longer exists')
  return { ...job, source: { object: upload.object, bytes: upload.bytes, sha256: '' } }
}

function checkSourceUrl(sourceUrl: string): FieldError[] {
  const url = sourceUrl.length <= MAX_URL_LENGTH && URL.canParse(sourceUrl) ? new URL(sourceUrl) : undefined
  return url && ['http:', 'https:'].includes(url.protocol)
    ? []
    : [{ field: 'source_url', message: `must be an http or https URL of at most ${MAX_URL_LENGTH} characters` }]
}

function checkIds(jobId: string, owner: Record<string, string>, organisationId: string): FieldError[] {
  const fields: FieldError[] = []
  if (!isId(jobId)) fields.push({ field: 'job_id', message: 'must be an integer greater than 0' })
  for (const [field, id] of Object.entries(owner)) {
    if (!/^[a-z0-9]{1,64}$/.test(id)) fields.push({ field, message: 'must be 1 to 64 digits or lower-case letters' })
  }
  if (!isId(organisationId)) fields.push({ field: 'organisation_id', message: 'must be an integer greater than 0' })
  return fields
}
