import { DAY_MS, toDay } from '../view/day.ts'
import type { Batch } from './event-store.ts'

/**
 * Returns the first day whose spooled events can still be written, if views are deleted after
 * `retentionDays`. Events of a deleted view would count the view a second time. The margin of one day
 * covers paused views and a deletion that runs during the insert.
 */
export function firstWritableDay(retentionDays: number, nowMs: number): string {
  return toDay(nowMs - (retentionDays - 1) * DAY_MS)
}

/** Returns a batch without the events before `firstDay`, and the number of removed events. Each line starts with its day. */
export function removeLateEvents({ days, lines }: Batch, firstDay: string): { batch: Batch; removedEvents: number } {
  const batch = { days: days.filter((day) => day >= firstDay), lines: lines.filter((line) => line.slice(0, firstDay.length) >= firstDay) }
  return { batch, removedEvents: lines.length - batch.lines.length }
}
