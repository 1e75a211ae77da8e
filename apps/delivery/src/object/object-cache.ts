import type { Metrics } from '@vitascope/telemetry'
import { LRUCache } from 'lru-cache'

/** Larger objects are never cached. A segment of 6 s at 5 Mbit/s has 3.75 MB. */
const MAX_OBJECT_BYTES = 4 * 1024 * 1024
/** Number of names whose requests are counted. */
const MAX_COUNTED = 50_000
/** After this number of requests all counts are halved, so that objects that were popular once can be replaced. */
const HALVE_AFTER = 100_000
/** An object that was not admitted is not read for the cache again within this time. */
const NOT_ADMITTED_MS = 5_000

export interface CachedObject {
  content: Buffer
  modified: Date
}

export interface ObjectCache {
  /** Returns a cached object. Counts the request. */
  get(name: string): CachedObject | undefined
  /** Returns whether an object that is not cached should be read for the cache: it was requested before. */
  isCandidate(name: string): boolean
  /**
   * Returns whether a candidate of this size should be cached: it fits into the free space or was requested more
   * often than the least recently used object. So a scan of many objects does not replace popular ones. An object
   * that is not admitted is not a candidate for some seconds.
   */
  admits(name: string, bytes: number): boolean
  /** Caches an object and returns it. */
  set(name: string, object: CachedObject): CachedObject
}

/**
 * Creates a memory cache for objects of up to 4 MiB each and `maxBytes` in total. The names of objects are
 * immutable, so that an entry never becomes stale. The caller decides about access before each read.
 */
export function createObjectCache(maxBytes: number, metrics: Metrics): ObjectCache {
  const cache = new LRUCache<string, CachedObject>({
    maxSize: Math.max(1, maxBytes),
    sizeCalculation: ({ content }) => Math.max(1, content.length),
  })
  const counts = new LRUCache<string, { requests: number }>({ max: MAX_COUNTED })
  /** Until when an object is not a candidate, in ms since the epoch. */
  const notAdmittedUntil = new LRUCache<string, number>({ max: MAX_COUNTED })
  let untilHalved = HALVE_AFTER
  const reads = metrics.counter(
    'vitascope_delivery_object_reads_total',
    'Files that were sent, by source: memory, or storage for those that were not in the memory cache',
    ['source'],
  )
  metrics.gauge('vitascope_delivery_cache_bytes', 'Bytes of files in the memory cache', [], (gauge) => gauge.set(cache.calculatedSize))
  metrics.gauge('vitascope_delivery_cache_limit_bytes', 'Maximum bytes of files in the memory cache', [], (gauge) => gauge.set(maxBytes))

  const countRequests = (name: string) => counts.peek(name)?.requests ?? 0
  const count = (name: string) => {
    const entry = counts.get(name)
    if (entry) entry.requests += 1
    else counts.set(name, { requests: 1 })
    untilHalved -= 1
    if (untilHalved > 0) return
    untilHalved = HALVE_AFTER
    for (const other of counts.values()) other.requests = Math.floor(other.requests / 2)
  }

  const hasSpace = (bytes: number) => cache.calculatedSize + bytes <= maxBytes
  const isMorePopular = (name: string) => {
    const { value: leastRecentlyUsed } = cache.rkeys().next()
    return leastRecentlyUsed === undefined || countRequests(name) > countRequests(leastRecentlyUsed)
  }

  return {
    get(name) {
      count(name)
      const cached = cache.get(name)
      reads.inc({ source: cached ? 'memory' : 'storage' })
      return cached
    },
    isCandidate: (name) => maxBytes > 0 && countRequests(name) >= 2 && Date.now() >= (notAdmittedUntil.get(name) ?? 0),
    admits(name, bytes) {
      const isAdmitted = bytes <= Math.min(MAX_OBJECT_BYTES, maxBytes) && (hasSpace(bytes) || isMorePopular(name))
      if (!isAdmitted) notAdmittedUntil.set(name, Date.now() + NOT_ADMITTED_MS)
      return isAdmitted
    },
    set(name, object) {
      cache.set(name, object)
      return object
    },
  }
}
