import { dayOf } from '../view/contribution.ts'
import type { Batch } from './event-store.ts'

const DAY_MS = 86_400_000

/**
 * Returns the first day whose spooled events may still be inserted, if events and views are kept
 * for `retentionDays`. The views of these events still exist: the margin of one day covers paused views
 * and a removal that runs during the insert. An event of a removed view would count the view a
 * second time.
 */
export function firstSpooledDay(retentionDays: number, nowMs: number): string {
  return dayOf(nowMs - (retentionDays - 1) * DAY_MS)
}

/** Removes the events of days before `first` from a batch, and returns their number. Each line starts with its day. */
export function removeLateEvents({ days, lines }: Batch, first: string): { batch: Batch; late: number } {
  const batch = { days: days.filter((day) => day >= first), lines: lines.filter((line) => line.slice(0, first.length) >= first) }
  return { batch, late: lines.length - batch.lines.length }
}
