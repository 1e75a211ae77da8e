import { LRUCache } from 'lru-cache'

/**
 * Caches loaded values. Concurrent requests for one key share one load. An error reaches all
 * requests that share the load, and is not cached.
 */
export interface LoadingCache<Value> {
  /** Returns the fresh cached value, or else loads it. */
  get(key: string, load: () => Promise<Value>): Promise<Value>
  /** Like `get`, without the cached value. It joins a load in flight. */
  reload(key: string, load: () => Promise<Value>): Promise<Value>
  /**
   * Like `get` for many distinct keys. `load` is called for the keys that are neither fresh nor in
   * flight, with at most `maxKeys` of them at once. It must return a value for each.
   */
  getMany(
    keys: readonly string[],
    load: (keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>,
    maxKeys?: number,
  ): Promise<Map<string, Value>>
  /** Returns the cached value regardless of its age, without a load. */
  last(key: string): CachedValue<Value> | undefined
  /** Stores a value. It is stale after `ttlMs`, and at once by default. */
  set(key: string, value: Value, ttlMs?: number): void
  /**
   * Deletes the values that match. No load in flight is cached or joined from now on, because its
   * value may be from before the change.
   */
  deleteWhere(matches: (value: Value) => boolean): void
  /** Deletes all values, and drops all loads in flight as `deleteWhere` does. */
  clear(): void
}

export interface CachedValue<Value> {
  readonly value: Value
  /** Milliseconds since the value was stored. */
  readonly ageMs: number
  readonly isFresh: boolean
}

export interface LoadingCacheOptions<Value> {
  /** Maximum number of values. Beyond it, the least recently used one is evicted. */
  max?: number
  /** Maximum total size of the values. */
  maxSize?: number
  /** Returns the size of a value for `maxSize`. */
  getSize?: (value: Value) => number
  /** How long a loaded value is fresh: 0 or less for a value that is not cached. By default, values do not become stale. */
  ttlMs?: (value: Value) => number
  /**
   * Returns whether a value says that its key does not exist. Such values have a cache of `maxMissing`
   * entries of their own, so that invented keys evict no others.
   */
  isMissing?: (value: Value) => boolean
  /** 1 by default. */
  maxMissing?: number
  /** Clock in milliseconds. */
  now?: () => number
}

interface Entry<Value> {
  value: Value
  storedAt: number
  freshUntil: number
}

/**
 * Creates a cache. It has its own table of loads in flight, since `LRUCache.fetch` keeps loads among
 * the values: an eviction or a deletion there fails the requests that wait for the load.
 */
export function createLoadingCache<Value>(options: LoadingCacheOptions<Value>): LoadingCache<Value> {
  const { ttlMs = () => Number.POSITIVE_INFINITY, isMissing = () => false, now = Date.now } = options
  const existing = createEntries(options)
  const missing = createEntries<Value>({ max: options.maxMissing ?? 1 })
  const loading = new Map<string, Promise<Value>>()

  const findEntry = (key: string) => existing.get(key) ?? missing.get(key)
  const findFreshEntry = (key: string) => {
    const entry = findEntry(key)
    return entry !== undefined && entry.freshUntil > now() ? entry : undefined
  }

  const store = (key: string, value: Value, ttl: number) => {
    const [target, other] = isMissing(value) ? [missing, existing] : [existing, missing]
    other.delete(key)
    target.set(key, { value, storedAt: now(), freshUntil: now() + ttl })
  }

  /** Registers a load that has started. A load that was dropped meanwhile does not store its value. */
  const register = (key: string, started: Promise<Value>): Promise<Value> => {
    const load = started.then(
      (value) => {
        if (loading.get(key) !== load) return value
        loading.delete(key)
        const ttl = ttlMs(value)
        if (ttl > 0) store(key, value, ttl)
        return value
      },
      (error: unknown) => {
        if (loading.get(key) === load) loading.delete(key)
        throw error
      },
    )
    loading.set(key, load)
    return load
  }

  const reload = (key: string, load: () => Promise<Value>) => loading.get(key) ?? register(key, load())

  return {
    async get(key, load) {
      const entry = findFreshEntry(key)
      return entry ? entry.value : await reload(key, load)
    },
    async reload(key, load) {
      return await reload(key, load)
    },
    async getMany(keys, load, maxKeys = Number.POSITIVE_INFINITY) {
      const values = new Map<string, Value>()
      const waiting: (readonly [string, Promise<Value>])[] = []
      const keysToLoad: string[] = []
      for (const key of keys) {
        const entry = findFreshEntry(key)
        const running = loading.get(key)
        if (entry) values.set(key, entry.value)
        else if (running) waiting.push([key, running])
        else keysToLoad.push(key)
      }
      for (let start = 0; start < keysToLoad.length; start += maxKeys) {
        const batch = keysToLoad.slice(start, start + maxKeys)
        const loaded = load(batch)
        // `load` returns a value for each key; the value itself may be undefined.
        for (const key of batch)
          waiting.push([
            key,
            register(
              key,
              loaded.then((loadedValues) => loadedValues.get(key) as Value),
            ),
          ])
      }
      await Promise.all(waiting.map(async ([key, value]) => values.set(key, await value)))
      return values
    },
    last(key) {
      const entry = findEntry(key)
      return entry && { value: entry.value, ageMs: now() - entry.storedAt, isFresh: entry.freshUntil > now() }
    },
    set(key, value, ttl = 0) {
      store(key, value, ttl)
    },
    deleteWhere(matches) {
      loading.clear()
      for (const entries of [existing, missing]) {
        for (const [key, entry] of entries.entries()) if (matches(entry.value)) entries.delete(key)
      }
    },
    clear() {
      loading.clear()
      existing.clear()
      missing.clear()
    },
  }
}

function createEntries<Value>({ max, maxSize, getSize }: LoadingCacheOptions<Value>): LRUCache<string, Entry<Value>> {
  if (maxSize !== undefined && getSize !== undefined) {
    return new LRUCache({ ...(max !== undefined && { max }), maxSize, sizeCalculation: ({ value }) => getSize(value) })
  }
  if (max === undefined) throw new Error('a cache needs max, or maxSize and getSize')
  return new LRUCache({ max })
}
