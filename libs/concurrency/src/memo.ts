import { LRUCache } from 'lru-cache'

export interface MemoOptions<T> {
  /** Bound of the memory of all keys and values. */
  maxBytes: number
  /** Returns the approximate memory of an entry in bytes. */
  size(key: string, value: T): number
}

/**
 * Returns a function that returns the stored value of a key, or computes and stores it. The value
 * must depend on the key only, so it is never out of date. The least recently used values are
 * removed. A value larger than `maxBytes` is not stored.
 */
export function createMemo<T extends object | string>({ maxBytes, size }: MemoOptions<T>): (key: string, compute: () => T) => T {
  const values = new LRUCache<string, T>({ maxSize: maxBytes, sizeCalculation: (value, key) => Math.max(1, size(key, value)) })
  return (key, compute) => {
    const known = values.get(key)
    if (known !== undefined) return known
    const value = compute()
    values.set(key, value)
    return value
  }
}
