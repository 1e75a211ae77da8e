import { DomainError } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'

/** What a commit and its answer may take. */
const ANSWER_MS = 1_000

/**
 * Runs a write that is not committed when too little of the caller's time is left to answer it: nobody hears that it failed when it did not.
 */
export async function inAnswerTime<T>(call: Call, write: (call: Call) => Promise<T>): Promise<T> {
  if (!call.deadline) return write(call)
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(tooLate()), Math.max(0, call.deadline.getTime() - Date.now() - ANSWER_MS))
  try {
    return await write({ ...call, signal: AbortSignal.any([call.signal, late.signal]) })
  } finally {
    clearTimeout(timer)
  }
}

export function tooLate(): DomainError {
  return new DomainError('unavailable', 'DEADLINE_EXCEEDED', 'storing the captions took too long, and nothing was stored: try again', {
    retryAfter: 1,
  })
}
