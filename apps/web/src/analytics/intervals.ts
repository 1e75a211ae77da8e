/** Range of a video in seconds, half-open: `[0, 12.5]` ends just before 12.5. */
export type Interval = readonly [from: number, to: number]

/** Returns the same seconds as the smallest number of ranges, sorted. */
export function mergeIntervals(intervals: readonly Interval[]): Interval[] {
  const merged: [number, number][] = []
  for (const [from, to] of intervals.toSorted(([a], [b]) => a - b)) {
    if (to <= from) continue
    const lastMerged = merged.at(-1)
    if (lastMerged && from <= lastMerged[1]) lastMerged[1] = Math.max(lastMerged[1], to)
    else merged.push([from, to])
  }
  return merged
}

/** Returns the parts of a range that lie in `others`, which are sorted and disjoint. */
export function intersect([from, to]: Interval, intervals: readonly Interval[]): Interval[] {
  return intervals.map(([start, end]): Interval => [Math.max(from, start), Math.min(to, end)]).filter(([start, end]) => start < end)
}
