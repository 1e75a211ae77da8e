import type { Caller } from './caller.ts'
import type { Schemas } from './operation.ts'

/** Encode jobs. */
export class Jobs {
  readonly #api: Caller

  /** @internal */
  constructor(api: Caller) {
    this.#api = api
  }

  /** Returns the state and the progress of a job, and the reason of a failure. Throws `job_not_found`. */
  get(jobId: string): Promise<Schemas['Job']> {
    return this.#api.call('getJob', { path: { job_id: jobId } })
  }

  /** Cancels a job. Throws `job_finished`. */
  cancel(jobId: string): Promise<Schemas['Job']> {
    return this.#api.call('cancelJob', { path: { job_id: jobId } })
  }

  /** Creates a new job for a failed or cancelled one. Throws `job_not_failed`. */
  retry(jobId: string): Promise<Schemas['RetriedJob']> {
    return this.#api.call('retryJob', { path: { job_id: jobId } })
  }
}
