import type { KeptEvent } from './event.ts'

/**
 * Events that this process wrote just now, by the number of their insert: when it is the one that merges them, it need not read them again. Bounded,
 * and never needed: what is not here is in the database.
 */
export interface RecentEvents {
  keep(batchId: string, events: readonly KeptEvent[]): void
  /** Forgets them, too. */
  take(batchId: string): readonly KeptEvent[] | undefined
}

/** Of a second or two at the highest rate, in some 20 MB. */
const MOST = 40_000

export function createRecentEvents(most = MOST): RecentEvents {
  const kept = new Map<string, readonly KeptEvent[]>()
  let count = 0
  const take = (batchId: string) => {
    const events = kept.get(batchId)
    kept.delete(batchId)
    count -= events?.length ?? 0
    return events
  }
  return {
    keep(batchId, events) {
      kept.set(batchId, events)
      count += events.length
      // The oldest first: a Map keeps the order.
      for (const oldest of kept.keys()) {
        if (count <= most) break
        take(oldest)
      }
    },
    take,
  }
}
