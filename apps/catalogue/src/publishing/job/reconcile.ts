import { isDomainError } from '@vitascope/errors'
import { type Client, serviceCall } from '@vitascope/grpc'
import { type Job as EncodingJob, type JobServiceService, JobState } from '@vitascope/proto/encoding/v1/job'
import type { Logger } from '@vitascope/telemetry'
import { CANCELLED, JOB_REJECTED, RESULT_LOST } from '../media/status.ts'
import type { JobUpdate } from './job.ts'
import type { SendCount, StaleJobs } from './stale-jobs-store.ts'

export interface ReconcileTimes {
  /** A job is checked if it has not reported for this time. A job that failed in encoding has the same time to report its end. */
  staleSeconds: number
  /** A published set without a report within this time counts as lost. */
  resultSeconds: number
}

/** Number of times that a job which encoding does not know is sent again. */
const MAX_SENDS = 5

type FailedUpdate = Extract<JobUpdate, { kind: 'failed' }>
type AnyJob = { jobId: string }

export interface ReconcileParts<Job extends AnyJob> extends ReconcileTimes {
  staleJobs: StaleJobs<Job>
  jobs: { apply(jobId: string, update: FailedUpdate, revision: undefined, signal: AbortSignal): Promise<unknown> }
  encoding: Pick<Client<typeof JobServiceService>, 'getJob' | 'repeatReport'>
  log: Logger
}

/** Numbers of jobs of one round, by result. */
export interface ReconcileResult {
  checked: number
  resent: number
  running: number
  /** Jobs whose final report was requested from encoding again. */
  reports_repeated: number
  ended: number
  /** True if the round ended early because encoding is unavailable. */
  isEncodingUnavailable: boolean
}

/**
 * Checks stale jobs with encoding. Jobs that encoding does not know are sent again. If a job ended in
 * encoding without a report, the report is requested again. If no report arrives in time, the job fails.
 * The round ends early if encoding is unavailable.
 */
export async function reconcileJobs<Job extends AnyJob>(parts: ReconcileParts<Job>, signal: AbortSignal): Promise<ReconcileResult> {
  const result: ReconcileResult = { checked: 0, resent: 0, running: 0, reports_repeated: 0, ended: 0, isEncodingUnavailable: false }
  for (const job of await parts.staleJobs.claim(parts.staleSeconds)) {
    result.checked++
    try {
      result[await reconcileJob(parts, job, signal)]++
    } catch (error) {
      if (signal.aborted || (isDomainError(error) && error.kind === 'unavailable')) return { ...result, isEncodingUnavailable: true }
      parts.log.error({ err: error, job_id: job.jobId }, 'reconciling a job failed')
    }
  }
  return result
}

async function reconcileJob<Job extends AnyJob>(
  parts: ReconcileParts<Job>,
  job: Job & SendCount,
  signal: AbortSignal,
): Promise<'resent' | 'running' | 'reports_repeated' | 'ended'> {
  const { staleJobs, jobs, encoding, log } = parts
  const encodingJob = await findEncodingJob(parts, job.jobId, signal)
  if (!encodingJob && job.sendCount < MAX_SENDS) {
    await staleJobs.resend(job)
    return 'resent'
  }
  if (encodingJob && !hasEnded(encodingJob)) {
    await staleJobs.recordRunning(job.jobId)
    return 'running'
  }
  const update: FailedUpdate = encodingJob
    ? toFailure(encodingJob)
    : { kind: 'failed', code: JOB_REJECTED, message: 'encoding rejected the job' }
  const timeoutSeconds = !encodingJob ? 0 : encodingJob.state === JobState.JOB_STATE_OK ? parts.resultSeconds : parts.staleSeconds
  if ((await staleJobs.recordEnd(job.jobId)) < timeoutSeconds) {
    await encoding.repeatReport({ jobId: job.jobId }, serviceCall('catalogue', `reconcile-${job.jobId}`, signal))
    return 'reports_repeated'
  }
  log.warn({ job_id: job.jobId, encoding: encodingJob?.state ?? 'unknown' }, 'job ended without a report; applying its state')
  await jobs.apply(job.jobId, update, undefined, signal)
  return 'ended'
}

async function findEncodingJob(
  { encoding }: Pick<ReconcileParts<AnyJob>, 'encoding'>,
  jobId: string,
  signal: AbortSignal,
): Promise<EncodingJob | undefined> {
  try {
    return (await encoding.getJob({ jobId }, serviceCall('catalogue', `reconcile-${jobId}`, signal))).job
  } catch (error) {
    if (isDomainError(error) && error.kind === 'not_found') return undefined
    throw error
  }
}

function hasEnded({ state }: EncodingJob): boolean {
  return state === JobState.JOB_STATE_OK || state === JobState.JOB_STATE_FAILED || state === JobState.JOB_STATE_CANCELLED
}

/** Only a report contains the set, so a success without a report is a failure. */
function toFailure({ state, code, message }: EncodingJob): FailedUpdate {
  if (state === JobState.JOB_STATE_FAILED) return { kind: 'failed', code, message }
  if (state === JobState.JOB_STATE_CANCELLED) return { kind: 'failed', code: CANCELLED, message: message || 'cancelled' }
  return { kind: 'failed', code: RESULT_LOST, message: 'the result of the encoder was lost' }
}
