import { type FieldError, invalid, notFound } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import type { Db } from '@vitascope/postgres'
import type {
  CreateJobRequest,
  CreateRenditionJobRequest,
  CreateSlideJobRequest,
  JobServiceService,
} from '@vitascope/proto/encoding/v1/job'
import { isObjectName } from '@vitascope/storage'
import { maySee, onlyServices } from '../caller.ts'
import { readProfile } from '../rendition/rendition-profile.ts'
import { sourceOfSet } from '../rendition/set-source.ts'
import { readUploadSource, sourceOfJob } from '../upload/upload-source.ts'
import type { JobDesk } from './accept-job.ts'
import { isJobId, type NewJob } from './job.ts'
import { toMessage } from './job-message.ts'
import { readPace } from './job-pace.ts'
import { readJob } from './job-store.ts'

export function jobHandlers({ db, desk }: { db: Db; desk: JobDesk }): Handlers<typeof JobServiceService> {
  return {
    async createJob(request, { principal, signal }) {
      onlyServices(principal)
      await desk.accept(checked(request), signal)
      return {}
    },
    async createSlideJob(request, { principal, signal }) {
      onlyServices(principal)
      await desk.accept(checkedSlides(request), signal)
      return {}
    },
    async createRenditionJob(request, { principal, signal }) {
      onlyServices(principal)
      const job = checkedRendition(request)
      const known = await readJob(db.query, job.jobId)
      // Asked again: the set may be gone by now.
      if (known?.mediaId === job.mediaId) return {}
      await desk.accept({ ...job, source: await sourceOfSet(db.query, job) }, signal)
      return {}
    },
    async getJob({ jobId }, { principal }) {
      const job = isJobId(jobId) ? await readJob(db.query, jobId) : undefined
      // A job that was cancelled before it came has no owner: there is nothing to show.
      if (!job || job.mediaId === '' || !maySee(principal, job.organisationId)) throw notFound('job', jobId)
      return { job: toMessage(job, await readPace(db.query, job)) }
    },
    async cancelJob({ jobId }, { principal, signal }) {
      onlyServices(principal)
      if (isJobId(jobId)) await desk.cancel(jobId, signal)
      return {}
    },
    async repeatReport({ jobId }, { principal, signal }) {
      onlyServices(principal)
      if (isJobId(jobId)) await desk.repeatReport(jobId, signal)
      return {}
    },
  }
}

const LONGEST_URL = 8_192

/** Ids become names of objects. The URL itself was checked when it was accepted, and each address is when it is called. */
function checked({ jobId, mediaId, organisationId, sourceUrl, maxBytes, maxSeconds, givesWay }: CreateJobRequest): NewJob {
  const fields = checkIds(jobId, { media_id: mediaId }, organisationId)
  const upload = readUploadSource(sourceUrl)
  const url = sourceUrl.length <= LONGEST_URL && URL.canParse(sourceUrl) ? new URL(sourceUrl) : undefined
  if (!upload && (!url || !['http:', 'https:'].includes(url.protocol)))
    fields.push({ field: 'source_url', message: 'must be an http or https URL' })
  if (fields.length > 0) throw invalid(fields)
  const source = upload ? sourceOfJob(upload) : sourceUrl
  return { jobId, kind: 'renditions', mediaId, organisationId, sourceUrl: source, maxBytes, maxSeconds, givesWay }
}

function checkedSlides({ jobId, presentationId, organisationId, sourceObject, sourceBytes }: CreateSlideJobRequest): NewJob {
  const fields = checkIds(jobId, { presentation_id: presentationId }, organisationId)
  if (!isObjectName(sourceObject)) fields.push({ field: 'source_object', message: 'must be the name of an object' })
  if (sourceBytes < 1) fields.push({ field: 'source_bytes', message: 'must be above 0' })
  if (fields.length > 0) throw invalid(fields)
  const source = { object: sourceObject, bytes: sourceBytes, sha256: '' }
  return { jobId, kind: 'slides', mediaId: presentationId, organisationId, sourceUrl: '', source }
}

function checkedRendition({ jobId, mediaId, organisationId, setJobId, profile, maxBytes, givesWay }: CreateRenditionJobRequest) {
  const fields = checkIds(jobId, { media_id: mediaId }, organisationId)
  if (!isJobId(setJobId)) fields.push({ field: 'set_job_id', message: 'must be a whole number above 0' })
  const rendition = readProfile(profile)
  if (Array.isArray(rendition)) throw invalid([...fields, ...rendition])
  if (fields.length > 0) throw invalid(fields)
  return { jobId, kind: 'rendition' as const, mediaId, organisationId, sourceUrl: '', setJobId, rendition, maxBytes, givesWay }
}

function checkIds(jobId: string, owner: Record<string, string>, organisationId: string): FieldError[] {
  const fields: FieldError[] = []
  if (!isJobId(jobId)) fields.push({ field: 'job_id', message: 'must be a whole number above 0' })
  for (const [field, id] of Object.entries(owner)) {
    if (!/^[a-z0-9]{1,64}$/.test(id)) fields.push({ field, message: 'must be digits or lower-case letters' })
  }
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(organisationId)) fields.push({ field: 'organisation_id', message: 'must be an id' })
  return fields
}
