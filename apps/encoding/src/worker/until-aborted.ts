/**
 * Awaits a promise, or throws the reason of the signal. The awaited work continues for other
 * callers.
 */
export async function untilAborted<T>(wait: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  const { promise, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([wait, promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
