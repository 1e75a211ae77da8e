/** Those of this process who wait for work. */
export interface Waiting {
  wake(): void
  /** Until woken, aborted, or the time is up; at most until work that others sent, or whose time has come, is looked for again. */
  pause(ms: number, signal: AbortSignal): Promise<void>
}

/** Work of other replicas, and work that becomes due, wakes nobody here: it is looked for this often. */
const LOOK_MS = 500

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
        const timer = setTimeout(resume, Math.min(ms, LOOK_MS))
        resumes.add(resume)
        signal.addEventListener('abort', resume, { once: true })
        if (signal.aborted) resume()
      }),
  }
}
