/** Waits. Resolves early when the signal aborts or the browser reports a network. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const stop = new AbortController()
    const wake = () => {
      clearTimeout(timer)
      stop.abort()
      resolve()
    }
    const timer = setTimeout(wake, milliseconds)
    signal.addEventListener('abort', wake, { signal: stop.signal })
    window.addEventListener('online', wake, { signal: stop.signal })
  })
}
