/**
 * Awaits a promise, or throws the reason of the signal. The awaited work continues for other
 * callers. Each call creates its own promise for the abort. A promise that lives as long as the
 * signal would hold the results of all races with it in memory.
 */
export async function untilAborted<T>(wait: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([promise, wait])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
