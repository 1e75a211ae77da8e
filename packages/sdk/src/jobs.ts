import type { Caller } from './caller.ts'
import type { CallOptions, Schemas } from './operation.ts'
import { type PollOptions, poll } from './wait.ts'

/** An encode job. */
export type Job = Schemas['Job']

export interface JobWaitOptions extends PollOptions {
  /** Called with the job after each request, for example to show `progress`. */
  onProgress?: (job: Job) => void
}

const FINAL_STATES: ReadonlySet<string> = new Set(['ok', 'failed', 'cancelled'])

/** Encode jobs. */
export class Jobs {
  readonly #api: Caller

  /** @internal */
  constructor(api: Caller) {
    this.#api = api
  }

  /** Returns the state and the progress of a job, and the reason of a failure. Throws `job_not_found`. */
  get(jobId: string, options: CallOptions = {}): Promise<Job> {
    return this.#api.call('getJob', { ...options, path: { job_id: jobId } })
  }

  /**
   * Waits until a job has ended, and returns it: with the state `ok`, `failed` or `cancelled`. A state that this
   * version does not know counts as active. Throws `wait_timeout` or `job_not_found`.
   */
  waitUntilEnded(jobId: string, { onProgress = () => {}, ...polling }: JobWaitOptions = {}): Promise<Job> {
    return poll(
      () => this.get(jobId, { signal: polling.signal }),
      (job) => {
        onProgress(job)
        return FINAL_STATES.has(job.state)
      },
      ({ state, progress }, timeoutMs) => `The job ${jobId} has not ended after ${timeoutMs} ms (${state}, ${progress} %).`,
      polling,
    )
  }

  /** Cancels a job. Throws `job_finished`. */
  cancel(jobId: string): Promise<Job> {
    return this.#api.call('cancelJob', { path: { job_id: jobId } })
  }

  /** Creates a new job for a failed or cancelled one. Throws `job_not_failed`. */
  retry(jobId: string): Promise<Schemas['RetriedJob']> {
    return this.#api.call('retryJob', { path: { job_id: jobId } })
  }
}
