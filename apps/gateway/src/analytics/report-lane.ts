import { DomainError } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'

/**
 * Reads large reports one after another: one of an organisation at a time, and few in all, so that whoever asks for twenty at once leaves the
 * database to the others. Those of one organisation that would wait too long are told so at once.
 */
export interface ReportLane {
  /** `read` makes its calls with the call that it is given: a large report has longer than other reads. */
  run<T>(organisationId: string, call: Call, read: (call: Call) => Promise<T>): Promise<T>
}

export interface LaneBounds {
  /** Under way, of all organisations. */
  running: number
  /** Of one organisation, that wait behind the one under way. */
  waiting: number
  /** From when it is asked for. */
  deadlineMs: number
}

const BOUNDS: LaneBounds = { running: 2, waiting: 3, deadlineMs: 4_500 }

interface Waiting {
  organisationId: string
  begin(): void
}

export function createReportLane({ running: mostRunning, waiting: mostWaiting, deadlineMs }: LaneBounds = BOUNDS): ReportLane {
  const running = new Set<string>()
  /** In the order in which they came. */
  const line: Waiting[] = []

  const beginNext = () => {
    if (running.size >= mostRunning) return
    const nth = line.findIndex(({ organisationId }) => !running.has(organisationId))
    const [next] = nth < 0 ? [] : line.splice(nth, 1)
    next?.begin()
  }
  /** Comes back when it is its turn; an answer that nobody waits for any more has no turn. */
  const turnOf = (organisationId: string, signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const leave = () => {
        const nth = line.indexOf(one)
        if (nth >= 0) line.splice(nth, 1)
        reject(signal.reason)
      }
      const one: Waiting = {
        organisationId,
        begin() {
          signal.removeEventListener('abort', leave)
          running.add(organisationId)
          resolve()
        },
      }
      if (signal.aborted) return reject(signal.reason)
      signal.addEventListener('abort', leave, { once: true })
      line.push(one)
      beginNext()
    })

  return {
    async run(organisationId, call, read) {
      const own = line.filter((one) => one.organisationId === organisationId).length
      if (own >= mostWaiting) {
        throw new DomainError('exhausted', 'TOO_MANY_REPORTS', 'the organisation has reports enough under way: wait for answers', {
          retryAfter: 1,
        })
      }
      const deadline = AbortSignal.timeout(deadlineMs)
      const until = new Date(Date.now() + deadlineMs)
      await turnOf(organisationId, AbortSignal.any([call.signal, deadline])).catch((error: unknown) => {
        if (!deadline.aborted) throw error
        throw new DomainError('unavailable', 'DEADLINE_EXCEEDED', 'other reports took too long: try again', { retryAfter: 1, cause: error })
      })
      try {
        return await read({ ...call, deadline: until })
      } finally {
        running.delete(organisationId)
        beginNext()
      }
    },
  }
}
