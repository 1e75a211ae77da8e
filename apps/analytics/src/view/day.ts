export const DAY_MS = 86_400_000
const MAX_CACHED = 1_000
const cachedDays = new Map<number, string>()

/**
 * Returns the UTC day of a time. Days are cached, because the function is called for every event and
 * mostly for the same two days.
 */
export function toDay(ms: number): string {
  const dayNumber = Math.floor(ms / DAY_MS)
  const cached = cachedDays.get(dayNumber)
  if (cached !== undefined) return cached
  if (cachedDays.size >= MAX_CACHED) cachedDays.clear()
  const day = new Date(ms).toISOString().slice(0, 10)
  cachedDays.set(dayNumber, day)
  return day
}
