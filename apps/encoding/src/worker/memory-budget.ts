/** The memory that a worker's tasks share. */
export interface MemoryBudget {
  /**
   * Free MiB. Undefined if nothing is reserved, because a task larger than the whole budget must
   * still run somewhere.
   */
  free(): number | undefined
  /** Reserves MiB if they are free. Returns the function that releases them, or undefined. */
  reserve(mib: number): (() => void) | undefined
}

export function createMemoryBudget(totalMib: number): MemoryBudget {
  const held = new Set<{ mib: number }>()
  const free = () => {
    if (held.size === 0) return undefined
    return Math.max(0, totalMib - [...held].reduce((sum, { mib }) => sum + mib, 0))
  }
  return {
    free,
    reserve(mib) {
      if (mib > (free() ?? mib)) return undefined
      const place = { mib }
      if (mib > 0) held.add(place)
      return () => void held.delete(place)
    },
  }
}
