import { invalid, notFound, requireValid } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import { getScope, requireService, requireUser } from '@vitascope/principal'
import {
  JobAction,
  type JobServiceService,
  JobState,
  type ListJobsRequest,
  type Job as Message,
  type ReportJobRequest,
} from '@vitascope/proto/catalogue/v1/job'
import { isId, pageByKey } from '@vitascope/request'
import type { Organisations } from '../organisation-replica/organisation.ts'
import { findRequestedOrganisation } from '../organisation-replica/requested-organisation.ts'
import type { Job, JobUpdate } from './job/job.ts'
import type { JobFilter, JobStore } from './job-store.ts'
import type { RenditionSet } from './media/rendition-set.ts'
import type { RetryJob } from './retry-job.ts'

const MAX_JOB_IDS = 1_000
const MAX_JOBS = 100
/** Larger than all ids of jobs, so that the first page starts with the latest job. */
const AFTER_ALL_IDS = '9223372036854775807'

/** Reports about jobs of presentations or of posters, which share one id space with media jobs. */
export interface NonMediaJobReports extends Pick<JobStore, 'findNeeded' | 'findUsedPrefixes'> {
  /**
   * Returns whether the job is still needed. Returns undefined if the job never existed, or if
   * jobs of this kind have no such update.
   */
  apply(report: ReportJobRequest, signal: AbortSignal): Promise<boolean | undefined>
}

export interface JobParts {
  jobs: JobStore
  retryJob: RetryJob
  otherJobs: readonly NonMediaJobReports[]
  organisations: Organisations
}

export function jobHandlers({ jobs, retryJob, otherJobs, organisations }: JobParts): Handlers<typeof JobServiceService> {
  /** Returns whether the job is still needed. Returns undefined if no store has the job. */
  const applyReport = async (report: ReportJobRequest, signal: AbortSignal): Promise<boolean | undefined> => {
    const update = report.update?.$case === 'slidesMade' || report.update?.$case === 'posterMade' ? undefined : toUpdate(report)
    // `playable` is reported once, and progress reports with a higher revision may arrive before
    // it. Its revision is therefore ignored.
    const revision = update?.kind === 'playable' ? undefined : report.revision
    let isNeeded = update && (await jobs.apply(report.jobId, update, revision, signal))
    for (const other of otherJobs) isNeeded ??= await other.apply(report, signal)
    return isNeeded
  }
  return {
    async getJob({ jobId }, { principal, signal }) {
      const scope = getScope(principal)
      const job = isId(jobId) ? await jobs.find(scope, jobId, signal) : undefined
      if (!job) throw notFound('job', jobId)
      return { job: toMessage(job) }
    },
    async listJobs(request, { principal, signal }) {
      const scope = await findRequestedOrganisation(organisations, requireUser(principal), request.organisationId, signal)
      const filter = { scope, ...readFilter(request) }
      const { rows, nextPageToken } = await pageByKey(request, MAX_JOBS, {
        read: (position) => jobs.list(filter, position, signal),
        getKey: ({ jobId }) => jobId,
        isKey: isId,
        start: AFTER_ALL_IDS,
      })
      return { jobs: rows.map(toMessage), nextPageToken, ...(await jobs.countActive(scope, signal)) }
    },
    async cancelJob({ jobId }, { principal, signal }) {
      const scope = getScope(principal)
      if (!isId(jobId)) throw notFound('job', jobId)
      return { job: toMessage(await jobs.cancel(scope, jobId, signal)) }
    },
    async retryJob({ jobId }, call) {
      const scope = getScope(call.principal)
      if (!isId(jobId)) throw notFound('job', jobId)
      const retried = await retryJob({ scope, jobId }, call)
      return { ...retried, action: ACTIONS[retried.action] }
    },
    async reportJob(report, { principal, signal }) {
      requireService(principal)
      const isNeeded = isId(report.jobId) ? await applyReport(report, signal) : undefined
      if (isNeeded === undefined) throw notFound('job', report.jobId)
      return { needed: isNeeded }
    },
    async checkJobs({ jobIds }, { principal, signal }) {
      requireService(principal)
      const checkedIds = checkIds(jobIds)
      const needed = await Promise.all([jobs, ...otherJobs].map((store) => store.findNeeded(checkedIds, signal)))
      return { neededJobIds: [...new Set(needed.flat())] }
    },
    async checkSets({ jobIds }, { principal, signal }) {
      requireService(principal)
      const checkedIds = checkIds(jobIds)
      const used = await Promise.all([jobs, ...otherJobs].map((store) => store.findUsedPrefixes(checkedIds, signal)))
      return { usedPrefixes: used.flat() }
    },
  }
}

function readFilter({ mediaId, states, jobIds }: ListJobsRequest): Omit<JobFilter, 'scope'> {
  const words = states.flatMap((state) => WORDS.get(state) ?? [])
  requireValid([
    ...(mediaId === '' || isId(mediaId) ? [] : [{ field: 'media_id', message: 'must be an id' }]),
    ...(words.length === states.length ? [] : [{ field: 'states', message: 'must be states of jobs' }]),
    ...(jobIds.length <= MAX_JOBS && jobIds.every(isId) ? [] : [{ field: 'job_ids', message: `must be at most ${MAX_JOBS} ids` }]),
  ])
  return { mediaId: mediaId === '' ? undefined : mediaId, states: words, jobIds }
}

function checkIds(jobIds: readonly string[]): string[] {
  if (jobIds.length > MAX_JOB_IDS) throw invalid([{ field: 'job_ids', message: `must be at most ${MAX_JOB_IDS}` }])
  return jobIds.filter(isId)
}

function toUpdate({ jobId, update }: ReportJobRequest): JobUpdate {
  switch (update?.$case) {
    case 'progress':
      return { kind: 'progress', percent: update.value.percent, sourceMs: update.value.sourceMs }
    case 'playable':
      return { kind: 'playable', preview: checkSetLocation('playable.preview', jobId, update.value.preview) }
    case 'published':
      return { kind: 'published', renditions: checkSet(jobId, update.value.renditions) }
    case 'failed':
      return { kind: 'failed', code: update.value.code, message: update.value.message }
    default:
      throw invalid([{ field: 'update', message: 'must be progress, playable, published or failed' }])
  }
}

/** Returns the set. Throws `invalid` if it has no renditions or belongs to another job. */
function checkSet(jobId: string, input: RenditionSet | undefined): RenditionSet {
  const set = checkSetLocation('published.renditions', jobId, input)
  if (set.renditions.length === 0) throw invalid([{ field: 'published.renditions.renditions', message: 'must not be empty' }])
  return set
}

function checkSetLocation(field: string, jobId: string, set: RenditionSet | undefined): RenditionSet {
  if (!set) throw invalid([{ field, message: 'is missing' }])
  const problems = [
    ...(set.jobId === jobId ? [] : [{ field: `${field}.job_id`, message: 'must be the job of the report' }]),
    ...(set.prefix === '' || set.prefix.endsWith('/')
      ? [{ field: `${field}.prefix`, message: 'must be a folder, without a slash at the end' }]
      : []),
  ]
  requireValid(problems)
  return set
}

const ACTIONS: Record<Job['action'], JobAction> = {
  new_video: JobAction.JOB_ACTION_NEW_VIDEO,
  replace: JobAction.JOB_ACTION_REPLACE,
  add_rendition: JobAction.JOB_ACTION_ADD_RENDITION,
}

const STATES: Record<Job['state'], JobState> = {
  queued: JobState.JOB_STATE_QUEUED,
  running: JobState.JOB_STATE_RUNNING,
  ok: JobState.JOB_STATE_OK,
  failed: JobState.JOB_STATE_FAILED,
  cancelled: JobState.JOB_STATE_CANCELLED,
}

const WORDS: ReadonlyMap<JobState, Job['state']> = new Map(
  Object.entries(STATES).map(([word, state]) => [state, word as Job['state']] as const),
)

function toMessage(job: Job): Message {
  return {
    ...job,
    action: ACTIONS[job.action],
    state: STATES[job.state],
  }
}
