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
  encoding: Pick<Client<typeof JobServiceService>, 'getJob'>
  log: Logger
}

/**
 * One round over the jobs of which nothing was heard: those that encoding never got, or lost, are handed over again; those that
 * ended there without a report that reached us end here too. Ends early when encoding is away.
 */
export async function reconcileJobs<Job extends AnyJob>(parts: ReconcileParts<Job>, signal: AbortSignal): Promise<void> {
  for (const job of await parts.quiet.claim(parts.quietSeconds)) {
    try {
      await reconcileJob(parts, job, signal)
    } catch (error) {
      if (signal.aborted || (isDomainError(error) && error.kind === 'unavailable')) return
      parts.log.error({ err: error, job_id: job.jobId }, 'a job could not be reconciled')
    }
  }
}

async function reconcileJob<Job extends AnyJob>(parts: ReconcileParts<Job>, job: Job, signal: AbortSignal): Promise<void> {
  const { quiet, jobs, log } = parts
  const there = await askEncoding(parts, job.jobId, signal)
  if (!there && job.handovers < HANDOVERS) return quiet.handOver(job)
  if (there && !hasEnded(there)) return quiet.alive(job.jobId)
  const news: Failed = there ? outcome(there) : { kind: 'failed', code: NOT_TAKEN, message: 'the encoder does not take the job' }
  const patience = !there ? 0 : there.state === JobState.JOB_STATE_OK ? parts.resultSeconds : parts.quietSeconds
  if ((await quiet.ended(job.jobId)) < patience) return
  log.warn({ job_id: job.jobId, encoding: there?.state ?? 'unknown' }, 'a job ended without a report')
  await jobs.apply(job.jobId, news, undefined, signal)
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

/** Only a report brings the set, so a success without one is a loss. */
function outcome({ state, code, message }: EncodingJob): Failed {
  if (state === JobState.JOB_STATE_FAILED) return { kind: 'failed', code, message }
  if (state === JobState.JOB_STATE_CANCELLED) return { kind: 'failed', code: CANCELLED, message: message || 'cancelled' }
  return { kind: 'failed', code: RESULT_LOST, message: 'the result of the encoder was lost' }
}
