import { type FieldError, invalid, notFound, requireValid } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import type { Db } from '@vitascope/postgres'
import { canSee, requireService } from '@vitascope/principal'
import type {
  CreateJobRequest,
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
import { findKeptSource, findSetSource } from '../rendition/set-source.ts'
import { formatSource, readUploadSource } from '../upload/upload-source.ts'
import type { JobCommands } from './accept-job.ts'

export function jobHandlers({ db, jobs }: { db: Db; jobs: JobCommands }): Handlers<typeof JobServiceService> {
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
  const url = sourceUrl.length <= MAX_URL_LENGTH && URL.canParse(sourceUrl) ? new URL(sourceUrl) : undefined
  if (!upload && (!url || !['http:', 'https:'].includes(url.protocol)))
    fields.push({ field: 'source_url', message: 'must be an http or https URL' })
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

function checkIds(jobId: string, owner: Record<string, string>, organisationId: string): FieldError[] {
  const fields: FieldError[] = []
  if (!isId(jobId)) fields.push({ field: 'job_id', message: 'must be an integer greater than 0' })
  for (const [field, id] of Object.entries(owner)) {
    if (!/^[a-z0-9]{1,64}$/.test(id)) fields.push({ field, message: 'must be digits or lower-case letters' })
  }
  if (!isId(organisationId)) fields.push({ field: 'organisation_id', message: 'must be an id' })
  return fields
}
