/** Wakes the requests of this process that wait for items. */
export interface Waiting {
  wake(): void
  /** Waits until woken, aborted, or the time is up, but at most one poll interval. */
  pause(ms: number, signal: AbortSignal): Promise<void>
}

/** Poll interval for items of other replicas and items that become due, which do not wake requests here. */
const POLL_MS = 500

export function createWaiting(): Waiting {
  const resumes = new Set<() => void>()
  return {
    wake() {
      for (const resume of resumes) resume()
    },
    pause: (ms, signal) =>
      new Promise((resolve) => {
        const resume = () => {
          clearTimeout(timer)
          signal.removeEventListener('abort', resume)
          resumes.delete(resume)
          resolve()
        }
        const timer = setTimeout(resume, Math.min(ms, POLL_MS))
        resumes.add(resume)
        signal.addEventListener('abort', resume, { once: true })
        if (signal.aborted) resume()
      }),
  }
}
