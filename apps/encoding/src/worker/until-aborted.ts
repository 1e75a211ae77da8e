/** The wait, or the reason of the signal: what is waited for may go on for others. */
export async function untilAborted<Seen>(wait: Promise<Seen>, signal: AbortSignal): Promise<Seen> {
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
