import { LRUCache } from 'lru-cache'

/** Maximum number of buckets that are kept. Beyond it, the one that was used the longest ago is forgotten, so it is full again. */
const MAX_BUCKETS = 50_000

/** Token buckets by name. Tokens may be taken after they were used, so a bucket can have a negative number of them. */
export interface TokenBuckets {
  /** Returns the seconds until the bucket of a name has a token; 0 if it has one. */
  wait(name: string): number
  /** Takes tokens, also more than there are. */
  take(name: string, tokens: number): void
  /** Number of buckets that are kept. */
  size(): number
}

interface Bucket {
  tokens: number
  /** When `tokens` was computed, by `performance.now()`. */
  at: number
}

/**
 * Creates buckets of `capacity` tokens that gain `perSecond` tokens a second. They need at most 10 MB of memory, and a
 * call costs a lookup.
 */
export function createTokenBuckets({ perSecond, capacity }: { perSecond: number; capacity: number }): TokenBuckets {
  // `max` would allocate the memory at once.
  const buckets = new LRUCache<string, Bucket>({ maxSize: MAX_BUCKETS, sizeCalculation: () => 1 })
  const refill = (bucket: Bucket) => {
    const now = performance.now()
    bucket.tokens = Math.min(capacity, bucket.tokens + ((now - bucket.at) / 1_000) * perSecond)
    bucket.at = now
    return bucket
  }
  return {
    wait(name) {
      const bucket = buckets.get(name)
      if (bucket === undefined) return 0
      const { tokens } = refill(bucket)
      return tokens >= 1 ? 0 : (1 - tokens) / perSecond
    },
    take(name, tokens) {
      const known = buckets.get(name)
      if (known) refill(known).tokens -= tokens
      else buckets.set(name, { tokens: capacity - tokens, at: performance.now() })
    },
    size: () => buckets.size,
  }
}
