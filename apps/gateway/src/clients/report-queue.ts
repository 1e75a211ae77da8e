import { createFairQueue } from '@vitascope/concurrency'
import { DomainError } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'

/**
 * Limits how many large reports run at the same time, in total and per organisation, so that they
 * do not occupy the database.
 */
export interface ReportQueue {
  /**
   * Runs `readReport` with a call whose deadline is `deadlineMs` from now, which is later than that of
   * other reads. Throws TOO_MANY_REPORTS if the organisation has too many waiting reports,
   * DEADLINE_EXCEEDED if the report could not start in time.
   */
  run<T>(organisationId: string, call: Call, readReport: (call: Call) => Promise<T>): Promise<T>
}

export interface ReportQueueBounds {
  /** Reports that run at the same time, at most one per organisation. */
  concurrency: number
  /** Waiting reports of one organisation. */
  maxQueuedPerOrganisation: number
  /** Milliseconds from the request to the end of the report. */
  deadlineMs: number
}

const DEFAULT_BOUNDS: ReportQueueBounds = { concurrency: 2, maxQueuedPerOrganisation: 3, deadlineMs: 4_500 }

export function createReportQueue({ concurrency, maxQueuedPerOrganisation, deadlineMs } = DEFAULT_BOUNDS): ReportQueue {
  const queue = createFairQueue({
    concurrency,
    concurrencyPerKey: 1,
    maxQueuedPerKey: maxQueuedPerOrganisation,
    rejection: () =>
      new DomainError('exhausted', 'TOO_MANY_REPORTS', 'too many concurrent reports for this organisation; wait for their responses', {
        retryAfter: 1,
      }),
  })
  return {
    async run(organisationId, call, readReport) {
      const deadline = new Date(Date.now() + deadlineMs)
      const timeout = AbortSignal.timeout(deadlineMs)
      let isStarted = false
      const start = () => {
        isStarted = true
        return readReport({ ...call, deadline })
      }
      try {
        return await queue.run(organisationId, start, AbortSignal.any([call.signal, timeout]))
      } catch (error) {
        if (isStarted || !timeout.aborted) throw error
        throw new DomainError('unavailable', 'DEADLINE_EXCEEDED', 'other reports took too long; try again', { retryAfter: 1, cause: error })
      }
    },
  }
}
