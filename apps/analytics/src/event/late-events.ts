import { dayOf } from '../view/contribution.ts'
import type { Batch } from './event-store.ts'

const DAY_MS = 86_400_000

/**
 * The first day whose events may still come from disk, where events and views are kept for so many days. Their views are there still: the day between
 * is for a view that paused, and for what is removed while they are brought in. An event of a view that is gone would count it once more.
 */
export function firstSpooledDay(keptDays: number, nowMs: number): string {
  return dayOf(nowMs - (keptDays - 1) * DAY_MS)
}

/** What is left of a batch without events of days before the first, and how many those were. Each line begins with its day. */
export function withoutLate({ days, lines }: Batch, first: string): { batch: Batch; late: number } {
  const batch = { days: days.filter((day) => day >= first), lines: lines.filter((line) => line.slice(0, first.length) >= first) }
  return { batch, late: lines.length - batch.lines.length }
}
