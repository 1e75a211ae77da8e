import { isDomainError } from '@vitascope/errors'
import { type Client, serviceCall } from '@vitascope/grpc'
import { type Job as EncodingJob, type JobServiceService, JobState } from '@vitascope/proto/encoding/v1/job'
import type { Logger } from '@vitascope/telemetry'
import { CANCELLED, NOT_TAKEN, RESULT_LOST } from '../media/status.ts'
import type { News } from './job.ts'
import type { QuietJobs } from './quiet-jobs-store.ts'

export interface ReconcileTimes {
  /** A job is asked after when nothing was heard of it for so long; so long a report may be late, too. */
  quietSeconds: number
  /** A published set whose report does not come in this time is given up. */
  resultSeconds: number
}

/** A job that encoding does not know is handed over so many times more. */
const HANDOVERS = 5

type Failed = Extract<News, { kind: 'failed' }>
type AnyJob = { jobId: string; handovers: number }

export interface ReconcileParts<Job extends AnyJob> extends ReconcileTimes {
  quiet: QuietJobs<Job>
  jobs: { apply(jobId: string, news: Failed, revision: undefined, signal: AbortSignal): Promise<unknown> }
  encoding: Pick<Client<typeof JobServiceService>, 'getJob' | 'repeatReport'>
  log: Logger
}

/** What became of the jobs of a round. */
export interface Reconciled {
  asked: number
  handed_over: number
  under_way: number
  /** Of jobs that have ended there. */
  reports_repeated: number
  ended: number
  /** A round ends early when encoding is away. */
  away: boolean
}

/**
 * One round over the jobs of which nothing was heard: those that encoding never got, or lost, are handed over again; those that
 * ended there without a report that reached us are reported again, and end here too when that does not help. Ends early when encoding is away.
 */
export async function reconcileJobs<Job extends AnyJob>(parts: ReconcileParts<Job>, signal: AbortSignal): Promise<Reconciled> {
  const done: Reconciled = { asked: 0, handed_over: 0, under_way: 0, reports_repeated: 0, ended: 0, away: false }
  for (const job of await parts.quiet.claim(parts.quietSeconds)) {
    done.asked++
    try {
      done[await reconcileJob(parts, job, signal)]++
    } catch (error) {
      if (signal.aborted || (isDomainError(error) && error.kind === 'unavailable')) return { ...done, away: true }
      parts.log.error({ err: error, job_id: job.jobId }, 'a job could not be reconciled')
    }
  }
  return done
}

async function reconcileJob<Job extends AnyJob>(
  parts: ReconcileParts<Job>,
  job: Job,
  signal: AbortSignal,
): Promise<'handed_over' | 'under_way' | 'reports_repeated' | 'ended'> {
  const { quiet, jobs, encoding, log } = parts
  const there = await askEncoding(parts, job.jobId, signal)
  if (!there && job.handovers < HANDOVERS) {
    await quiet.handOver(job)
    return 'handed_over'
  }
  if (there && !hasEnded(there)) {
    await quiet.alive(job.jobId)
    return 'under_way'
  }
  const news: Failed = there ? outcome(there) : { kind: 'failed', code: NOT_TAKEN, message: 'the encoder does not take the job' }
  const patience = !there ? 0 : there.state === JobState.JOB_STATE_OK ? parts.resultSeconds : parts.quietSeconds
  if ((await quiet.ended(job.jobId)) < patience) {
    await encoding.repeatReport({ jobId: job.jobId }, serviceCall('catalogue', `reconcile-${job.jobId}`, signal))
    return 'reports_repeated'
  }
  log.warn({ job_id: job.jobId, encoding: there?.state ?? 'unknown' }, 'a job ended without a report')
  await jobs.apply(job.jobId, news, undefined, signal)
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

/** Only a report brings the set, so a success of which none comes is a loss. */
function outcome({ state, code, message }: EncodingJob): Failed {
  if (state === JobState.JOB_STATE_FAILED) return { kind: 'failed', code, message }
  if (state === JobState.JOB_STATE_CANCELLED) return { kind: 'failed', code: CANCELLED, message: message || 'cancelled' }
  return { kind: 'failed', code: RESULT_LOST, message: 'the result of the encoder was lost' }
}
