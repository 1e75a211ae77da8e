/** The memory that a worker's tasks share. */
export interface MemoryRoom {
  /** MiB that are free; undefined when nothing is held, since a task larger than all of it must be done by somebody, too. */
  free(): number | undefined
  /** Takes so many MiB, if they are free; answers how to give them back. */
  take(mib: number): (() => void) | undefined
}

export function createMemoryRoom(totalMib: number): MemoryRoom {
  const held = new Set<{ mib: number }>()
  const free = () => {
    if (held.size === 0) return undefined
    return Math.max(0, totalMib - [...held].reduce((sum, { mib }) => sum + mib, 0))
  }
  return {
    free,
    take(mib) {
      if (mib > (free() ?? mib)) return undefined
      const place = { mib }
      if (mib > 0) held.add(place)
      return () => void held.delete(place)
    },
  }
}
