import { invalid, notFound } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import { JobAction, type JobServiceService, JobState, type Job as Message, type ReportJobRequest } from '@vitascope/proto/catalogue/v1/job'
import { parseId } from '../id/id.ts'
import type { RenditionSet } from '../media/rendition-set.ts'
import type { SlideJobStore } from '../presentation/slide-job-store.ts'
import { toSlideNews } from '../presentation/slide-news.ts'
import { requireService, scopeOf } from '../visibility.ts'
import type { Job, News } from './job.ts'
import type { JobStore } from './job-store.ts'
import type { RetryJob } from './retry-job.ts'

const CHECKED_AT_ONCE = 1_000

export function jobHandlers(
  jobs: JobStore,
  retryJob: RetryJob,
  slideJobs: Pick<SlideJobStore, 'apply' | 'wanted' | 'usedSets'>,
): Handlers<typeof JobServiceService> {
  /** Jobs of media and of presentations share their ids: the job is one of them, or there never was such a job. */
  const take = async (report: ReportJobRequest, signal: AbortSignal): Promise<boolean | undefined> => {
    const slideNews = toSlideNews(report)
    const news = report.news?.$case === 'slidesMade' ? undefined : toNews(report)
    // That it plays is told once, while reports of progress may come before it with a higher revision.
    const revision = news?.kind === 'playable' ? undefined : report.revision
    const wanted = news && (await jobs.apply(report.jobId, news, revision, signal))
    if (wanted !== undefined || !slideNews) return wanted
    return slideJobs.apply(report.jobId, slideNews, report.revision, signal)
  }
  return {
    async getJob({ jobId }, { principal, signal }) {
      const scope = scopeOf(principal)
      const job = parseId(jobId) ? await jobs.find(scope, jobId, signal) : undefined
      if (!job) throw notFound('job', jobId)
      return { job: toMessage(job) }
    },
    async cancelJob({ jobId }, { principal, signal }) {
      const scope = scopeOf(principal)
      if (!parseId(jobId)) throw notFound('job', jobId)
      return { job: toMessage(await jobs.cancel(scope, jobId, signal)) }
    },
    async retryJob({ jobId }, call) {
      const scope = scopeOf(call.principal)
      if (!parseId(jobId)) throw notFound('job', jobId)
      const retried = await retryJob({ scope, jobId }, call)
      return { ...retried, action: ACTIONS[retried.action] }
    },
    async reportJob(report, { principal, signal }) {
      requireService(principal)
      const wanted = parseId(report.jobId) ? await take(report, signal) : undefined
      if (wanted === undefined) throw notFound('job', report.jobId)
      return { wanted }
    },
    async checkJobs({ jobIds }, { principal, signal }) {
      requireService(principal)
      const asked = checkIds(jobIds)
      const [wanted, wantedSlides] = await Promise.all([jobs.wanted(asked, signal), slideJobs.wanted(asked, signal)])
      return { wantedJobIds: [...wanted, ...wantedSlides] }
    },
    async checkSets({ jobIds }, { principal, signal }) {
      requireService(principal)
      const asked = checkIds(jobIds)
      const [used, usedSlides] = await Promise.all([jobs.usedSets(asked, signal), slideJobs.usedSets(asked, signal)])
      return { usedPrefixes: [...used, ...usedSlides] }
    },
  }
}

function checkIds(jobIds: readonly string[]): string[] {
  if (jobIds.length > CHECKED_AT_ONCE) throw invalid([{ field: 'job_ids', message: `must be at most ${CHECKED_AT_ONCE}` }])
  return jobIds.flatMap((id) => parseId(id) ?? [])
}

function toNews({ jobId, news }: ReportJobRequest): News {
  switch (news?.$case) {
    case 'progress':
      return { kind: 'progress', percent: news.value.percent }
    case 'playable':
      return { kind: 'playable', early: checkPlace('playable.early', jobId, news.value.early) }
    case 'published':
      return { kind: 'published', renditions: checkSet(jobId, news.value.renditions) }
    case 'failed':
      return { kind: 'failed', code: news.value.code, message: news.value.message }
    default:
      throw invalid([{ field: 'news', message: 'must be progress, playable, published or failed' }])
  }
}

/** A set that could not be played must not become the one that plays. */
function checkSet(jobId: string, named: RenditionSet | undefined): RenditionSet {
  const set = checkPlace('published.renditions', jobId, named)
  if (set.renditions.length === 0) throw invalid([{ field: 'published.renditions.renditions', message: 'must not be empty' }])
  return set
}

function checkPlace(field: string, jobId: string, set: RenditionSet | undefined): RenditionSet {
  if (!set) throw invalid([{ field, message: 'is missing' }])
  const problems = [
    ...(set.jobId === jobId ? [] : [{ field: `${field}.job_id`, message: 'must be the job of the report' }]),
    ...(set.prefix === '' || set.prefix.endsWith('/')
      ? [{ field: `${field}.prefix`, message: 'must be a folder, without a slash at the end' }]
      : []),
  ]
  if (problems.length > 0) throw invalid(problems)
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

function toMessage(job: Job): Message {
  return {
    ...job,
    action: ACTIONS[job.action],
    state: STATES[job.state],
  }
}
