/** Range of a video in seconds, half-open: `[0, 12.5]` ends just before 12.5. */
export type Interval = readonly [from: number, to: number]

/** Returns the same seconds as the smallest number of ranges, sorted. */
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

/** Returns the parts of a range that lie in `others`, which are sorted and disjoint. */
export function intersect([from, to]: Interval, others: readonly Interval[]): Interval[] {
  return others.map(([start, end]): Interval => [Math.max(from, start), Math.min(to, end)]).filter(([start, end]) => start < end)
}
