/** Median of ratios with the bounds of its 95 % confidence interval. */
export interface Ratio {
  median: number
  low: number
  high: number
}

/**
 * Returns the median of the ratios and its 95 % confidence interval, from 10,000 bootstrap samples of
 * the ratios. The seed is fixed, so that the same ratios always have the same interval.
 */
export function medianRatio(ratios: readonly number[]): Ratio {
  let seed = 12_345
  const random = () => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff
    return seed / 0x80000000
  }
  const medians = Array.from({ length: 10_000 }, () => median(ratios.map(() => ratios[Math.floor(random() * ratios.length)] ?? 1)))
  medians.sort((a, b) => a - b)
  return { median: median(ratios), low: medians[249] ?? 0, high: medians[9749] ?? 0 }
}

/** Returns the median of the values, or 0 for an empty list. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length / 2
  return ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2
}
