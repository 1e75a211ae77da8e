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
/** Whoever merges has done so long before; some are merged before they are kept here, and some by another replica. */
const KEPT_MS = 10_000

export function createRecentEvents({ most = MOST, now = Date.now }: { most?: number; now?: () => number } = {}): RecentEvents {
  const kept = new Map<string, { events: readonly KeptEvent[]; since: number }>()
  let count = 0
  const take = (batchId: string) => {
    const found = kept.get(batchId)
    kept.delete(batchId)
    count -= found?.events.length ?? 0
    return found?.events
  }
  return {
    keep(batchId, events) {
      kept.set(batchId, { events, since: now() })
      count += events.length
      // The oldest first: a Map keeps the order.
      for (const [oldest, { since }] of kept) {
        if (count <= most && now() - since < KEPT_MS) break
        take(oldest)
      }
    },
    take,
  }
}
