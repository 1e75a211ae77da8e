/** Returns a sample in which the n-th item is 1/n as frequent as the first one. */
export function zipfSample<T>(items: readonly T[], count: number): T[] {
  let sum = 0
  const cumulative = items.map((_, index) => (sum += 1 / (index + 1)))
  return Array.from({ length: count }, () => {
    const target = Math.random() * sum
    let [low, high] = [0, cumulative.length - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((cumulative[middle] ?? 0) < target) low = middle + 1
      else high = middle
    }
    return items[low] as T
  })
}
