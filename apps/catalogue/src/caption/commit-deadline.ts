import { DomainError } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'

/** Time reserved for the commit and its response. */
const RESPONSE_RESERVE_MS = 1_000

/**
 * Runs a write. Aborts it before the commit if less than `RESPONSE_RESERVE_MS` remain until the
 * caller's deadline, so that a caller gets no timeout for a committed write.
 */
export async function withCommitDeadline<T>(call: Call, write: (call: Call) => Promise<T>): Promise<T> {
  if (!call.deadline) return write(call)
  const deadline = new AbortController()
  const timer = setTimeout(() => deadline.abort(storingTimedOut()), Math.max(0, call.deadline.getTime() - Date.now() - RESPONSE_RESERVE_MS))
  try {
    return await write({ ...call, signal: AbortSignal.any([call.signal, deadline.signal]) })
  } finally {
    clearTimeout(timer)
  }
}

export function storingTimedOut(): DomainError {
  return new DomainError('unavailable', 'DEADLINE_EXCEEDED', 'storing the captions took too long and was rolled back; try again', {
    retryAfter: 1,
  })
}
