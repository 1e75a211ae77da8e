/** Wakes the requests of this process that wait for items. */
export interface Waiting {
  wake(): void
  /**
   * Waits until woken, aborted, or the time is up, but at most one poll interval per waiting request of the group, so that
   * more requests do not poll more often. `group` names the items that a request waits for.
   */
  pause(ms: number, group: string, signal: AbortSignal): Promise<void>
}

/** Poll interval for items of other replicas and items that become due, which do not wake requests here. */
const POLL_MS = 500
/** Limits the delay of requests of one group that accept different items, such as those with less memory. */
const MAX_POLL_MS = 2_000

export function createWaiting(): Waiting {
  const groupByResume = new Map<() => void, string>()
  return {
    wake() {
      for (const resume of groupByResume.keys()) resume()
    },
    pause: (ms, group, signal) =>
      new Promise((resolve) => {
        const resume = () => {
          clearTimeout(timer)
          signal.removeEventListener('abort', resume)
          groupByResume.delete(resume)
          resolve()
        }
        groupByResume.set(resume, group)
        const requests = [...groupByResume.values()].filter((other) => other === group).length
        const timer = setTimeout(resume, Math.min(ms, requests * POLL_MS, MAX_POLL_MS))
        signal.addEventListener('abort', resume, { once: true })
        if (signal.aborted) resume()
      }),
  }
}
