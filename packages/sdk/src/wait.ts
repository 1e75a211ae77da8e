import { invalidArgument, VitascopeError } from './error.ts'

const DEFAULT_WAIT_MS = 3_600_000
const FIRST_INTERVAL_MS = 1_000
const MAX_INTERVAL_MS = 5_000
const MIN_INTERVAL_MS = 100

/** How long and how often a state is read until it is final. */
export interface PollOptions {
  /** Milliseconds after which the wait fails with `wait_timeout`. Default: 3,600,000 (one hour). */
  timeoutMs?: number
  /** Milliseconds between two requests, at least 100. Default: 1,000, later up to 5,000. */
  intervalMs?: number
  signal?: AbortSignal
}

/**
 * Reads a value until `isFinal` returns true for it, and returns it. After the timeout it throws `wait_timeout` with
 * the message of `describe`. Throws the reason of the signal as soon as it is aborted.
 */
export async function poll<T>(
  read: () => Promise<T>,
  isFinal: (value: T) => boolean,
  describe: (value: T, timeoutMs: number) => string,
  { timeoutMs = DEFAULT_WAIT_MS, intervalMs, signal }: PollOptions,
): Promise<T> {
  if (intervalMs !== undefined && !(intervalMs >= MIN_INTERVAL_MS)) throw invalidArgument(`intervalMs must be at least ${MIN_INTERVAL_MS}.`)
  const end = performance.now() + timeoutMs
  for (let pauseMs = intervalMs ?? FIRST_INTERVAL_MS; ; pauseMs = intervalMs ?? Math.min(MAX_INTERVAL_MS, pauseMs * 1.5)) {
    const value = await read()
    if (isFinal(value)) return value
    if (performance.now() + pauseMs > end) throw new VitascopeError(describe(value, timeoutMs), { code: 'wait_timeout' })
    await wait(pauseMs, signal)
  }
}

/** Waits. Throws the reason of the signal as soon as it is aborted. */
export function wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const onAbort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    }, milliseconds)
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}
