import { DomainError } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'

/** Time reserved for the commit and its response. */
const RESPONSE_RESERVE_MS = 1_000

/**
 * Runs a write, and aborts it before the commit if less than `RESPONSE_RESERVE_MS` of the caller's
 * deadline is left. So a caller never sees a timeout for a write that was committed.
 */
export async function withCommitDeadline<T>(call: Call, write: (call: Call) => Promise<T>): Promise<T> {
  if (!call.deadline) return write(call)
  const deadlinePassed = new AbortController()
  const timer = setTimeout(() => deadlinePassed.abort(tooLate()), Math.max(0, call.deadline.getTime() - Date.now() - RESPONSE_RESERVE_MS))
  try {
    return await write({ ...call, signal: AbortSignal.any([call.signal, deadlinePassed.signal]) })
  } finally {
    clearTimeout(timer)
  }
}

export function tooLate(): DomainError {
  return new DomainError('unavailable', 'DEADLINE_EXCEEDED', 'storing the captions took too long and was rolled back; try again', {
    retryAfter: 1,
  })
}
