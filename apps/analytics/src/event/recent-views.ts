import type { Gathered } from '../view/gathered.ts'

/**
 * What events that this process wrote just now say of their views, by the number of their insert: when it is the one that merges them, it need not read
 * them again. Bounded, and never needed: what is not here is in the database.
 */
export interface RecentViews {
  keep(batchId: string, gathered: readonly Gathered[]): void
  /** Forgets them, too. */
  take(batchId: string): readonly Gathered[] | undefined
}

/** Of a second or two at the highest rate, in some 40 MB. */
const MOST = 40_000
/** Whoever merges has done so long before; some are merged before they are kept here, and some by another replica. */
const KEPT_MS = 10_000

export function createRecentViews({ most = MOST, now = Date.now }: { most?: number; now?: () => number } = {}): RecentViews {
  const kept = new Map<string, { gathered: readonly Gathered[]; views: number; since: number }>()
  let count = 0
  const take = (batchId: string) => {
    const found = kept.get(batchId)
    kept.delete(batchId)
    count -= found?.views ?? 0
    return found?.gathered
  }
  return {
    keep(batchId, gathered) {
      const views = gathered.reduce((sum, one) => sum + one.views.size, 0)
      kept.set(batchId, { gathered, views, since: now() })
      count += views
      // The oldest first: a Map keeps the order.
      for (const [oldest, { since }] of kept) {
        if (count <= most && now() - since < KEPT_MS) break
        take(oldest)
      }
    },
    take,
  }
}
