/** A part of a video in seconds, half-open: `[0, 12.5]` ends just before 12.5. */
export type Interval = readonly [from: number, to: number]

/** The same seconds in as few parts as there can be, in their order. */
export function union(parts: readonly Interval[]): Interval[] {
  const joined: [number, number][] = []
  for (const [from, to] of parts.toSorted(([a], [b]) => a - b)) {
    if (to <= from) continue
    const last = joined.at(-1)
    if (last && from <= last[1]) last[1] = Math.max(last[1], to)
    else joined.push([from, to])
  }
  return joined
}

/** What of a part lies in others, which are in their order and do not meet. */
export function within([from, to]: Interval, others: readonly Interval[]): Interval[] {
  return others.map(([start, end]): Interval => [Math.max(from, start), Math.min(to, end)]).filter(([start, end]) => start < end)
}
