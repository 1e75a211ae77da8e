import { isDomainError } from '@vitascope/errors'
import { type Client, serviceCall } from '@vitascope/grpc'
import { type Job as EncodingJob, type JobServiceService, JobState } from '@vitascope/proto/encoding/v1/job'
import type { Logger } from '@vitascope/telemetry'
import { CANCELLED, JOB_REJECTED, RESULT_LOST } from '../media/status.ts'
import type { JobUpdate } from './job.ts'
import type { Sent, StaleJobs } from './stale-jobs-store.ts'

export interface ReconcileTimes {
  /** A job is checked if it has not reported for this time. A final report may be late by the same time. */
  staleSeconds: number
  /** A published set without a report within this time counts as lost. */
  resultSeconds: number
}

/** Number of times that a job which encoding does not know is sent again. */
const MAX_SENDS = 5

type Failed = Extract<JobUpdate, { kind: 'failed' }>
type AnyJob = { jobId: string }

export interface ReconcileParts<Job extends AnyJob> extends ReconcileTimes {
  staleJobs: StaleJobs<Job>
  jobs: { apply(jobId: string, update: Failed, revision: undefined, signal: AbortSignal): Promise<unknown> }
  encoding: Pick<Client<typeof JobServiceService>, 'getJob' | 'repeatReport'>
  log: Logger
}

/** Results of one round, by number of jobs. */
export interface Reconciled {
  asked: number
  handed_over: number
  under_way: number
  /** Final reports that encoding was requested to send again. */
  reports_repeated: number
  ended: number
  /** True if the round ended early because encoding is unavailable. */
  away: boolean
}

/**
 * Runs one round over stale jobs. Jobs that encoding does not know are sent again. For jobs that
 * ended in encoding without a report, the report is requested again; if none arrives in time, the
 * job ends here too. Ends early if encoding is unavailable.
 */
export async function reconcileJobs<Job extends AnyJob>(parts: ReconcileParts<Job>, signal: AbortSignal): Promise<Reconciled> {
  const done: Reconciled = { asked: 0, handed_over: 0, under_way: 0, reports_repeated: 0, ended: 0, away: false }
  for (const job of await parts.staleJobs.claim(parts.staleSeconds)) {
    done.asked++
    try {
      done[await reconcileJob(parts, job, signal)]++
    } catch (error) {
      if (signal.aborted || (isDomainError(error) && error.kind === 'unavailable')) return { ...done, away: true }
      parts.log.error({ err: error, job_id: job.jobId }, 'reconciling a job failed')
    }
  }
  return done
}

async function reconcileJob<Job extends AnyJob>(
  parts: ReconcileParts<Job>,
  job: Job & Sent,
  signal: AbortSignal,
): Promise<'handed_over' | 'under_way' | 'reports_repeated' | 'ended'> {
  const { staleJobs, jobs, encoding, log } = parts
  const there = await askEncoding(parts, job.jobId, signal)
  if (!there && job.sends < MAX_SENDS) {
    await staleJobs.sendAgain(job)
    return 'handed_over'
  }
  if (there && !hasEnded(there)) {
    await staleJobs.alive(job.jobId)
    return 'under_way'
  }
  const update: Failed = there ? outcome(there) : { kind: 'failed', code: JOB_REJECTED, message: 'encoding rejected the job' }
  const timeoutSeconds = !there ? 0 : there.state === JobState.JOB_STATE_OK ? parts.resultSeconds : parts.staleSeconds
  if ((await staleJobs.ended(job.jobId)) < timeoutSeconds) {
    await encoding.repeatReport({ jobId: job.jobId }, serviceCall('catalogue', `reconcile-${job.jobId}`, signal))
    return 'reports_repeated'
  }
  log.warn({ job_id: job.jobId, encoding: there?.state ?? 'unknown' }, 'job ended without a report; applying its state')
  await jobs.apply(job.jobId, update, undefined, signal)
  return 'ended'
}

async function askEncoding(
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
function outcome({ state, code, message }: EncodingJob): Failed {
  if (state === JobState.JOB_STATE_FAILED) return { kind: 'failed', code, message }
  if (state === JobState.JOB_STATE_CANCELLED) return { kind: 'failed', code: CANCELLED, message: message || 'cancelled' }
  return { kind: 'failed', code: RESULT_LOST, message: 'the result of the encoder was lost' }
}
