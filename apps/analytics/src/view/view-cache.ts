import type { ViewBatch } from './view-batch.ts'

/**
 * Cache of the views of recently inserted batches. A process that merges its own batches does not have
 * to read their events. All data is in the database, so entries can be evicted at any time. After a
 * failover, events can be lost and a batch id can be reused by another process. Therefore an entry is
 * only valid for the writer of its batch.
 */
export interface ViewCache {
  add(batchId: string, batch: readonly ViewBatch[]): void
  /**
   * Removes and returns the views of a batch. Returns undefined if they are not cached or if another
   * process inserted the batch. Releases without a cache stored null as writer.
   */
  remove(batchId: string, writer: string | null): readonly ViewBatch[] | undefined
}

/** About 40 MB: the views of one or two seconds at the highest rate. */
const MAX_VIEWS = 40_000
/** Batches are usually merged earlier. Entries of batches that another replica merged expire. */
const TTL_MS = 10_000

export interface ViewCacheOptions {
  /** The UUID of this process. It is stored with its inserts. */
  writer: string
  /** Maximum number of views. */
  max?: number
  now?: () => number
}

export function createViewCache({ writer: ownWriter, max = MAX_VIEWS, now = Date.now }: ViewCacheOptions): ViewCache {
  const entries = new Map<string, { batch: readonly ViewBatch[]; views: number; since: number }>()
  let count = 0
  const removeEntry = (batchId: string) => {
    const entry = entries.get(batchId)
    entries.delete(batchId)
    count -= entry?.views ?? 0
    return entry
  }
  return {
    add(batchId, batch) {
      removeEntry(batchId)
      const views = batch.reduce((sum, viewBatch) => sum + viewBatch.views.size, 0)
      entries.set(batchId, { batch, views, since: now() })
      count += views
      // A Map iterates in insertion order, so the oldest entries come first.
      for (const [oldest, { since }] of entries) {
        if (count <= max && now() - since < TTL_MS) break
        removeEntry(oldest)
      }
    },
    remove(batchId, writer) {
      const entry = removeEntry(batchId)
      return entry && writer === ownWriter && now() - entry.since < TTL_MS ? entry.batch : undefined
    },
  }
}
