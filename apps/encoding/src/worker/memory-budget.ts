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
  const reservations = new Set<{ mib: number }>()
  const free = () => {
    if (reservations.size === 0) return undefined
    return Math.max(0, totalMib - [...reservations].reduce((sum, { mib }) => sum + mib, 0))
  }
  return {
    free,
    reserve(mib) {
      if (mib > (free() ?? mib)) return undefined
      const reservation = { mib }
      if (mib > 0) reservations.add(reservation)
      return () => void reservations.delete(reservation)
    },
  }
}
