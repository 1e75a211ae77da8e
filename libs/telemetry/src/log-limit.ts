/** Calls `write` with the number of events of this key since its last call, unless that call was a moment ago. */
export type LogLimit = (key: string, write: (events: number) => void) => void

const MAX_KEYS = 1_000

/**
 * Returns a function that limits the log lines of frequent events: `write` is called for the first event of a key, and
 * then at most once in `intervalMs`. Beyond 1,000 keys, the one that was logged first is forgotten.
 */
export function createLogLimit(intervalMs: number): LogLimit {
  const states = new Map<string, { loggedAt: number; events: number }>()
  return (key, write) => {
    const now = performance.now()
    const { loggedAt, events } = states.get(key) ?? { loggedAt: Number.NEGATIVE_INFINITY, events: 0 }
    if (now - loggedAt < intervalMs) {
      states.set(key, { loggedAt, events: events + 1 })
      return
    }
    states.delete(key)
    states.set(key, { loggedAt: now, events: 0 })
    for (const oldest of states.keys()) {
      if (states.size <= MAX_KEYS) break
      states.delete(oldest)
    }
    write(events + 1)
  }
}
