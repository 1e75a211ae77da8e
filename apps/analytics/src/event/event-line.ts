import { escapeCopyText, NULL } from '../view/copy-text.ts'
import type { StoredEvent } from '../view/event-row.ts'

/** The columns of an event. The first column, `batch_id`, is added when the batch is written. */
export const COLUMNS = `batch_id, day, at_ms, received_ms, organisation_id, video_id, view_id, type, duration_ms, position_ms, watched,
  rewatched, language, subtitle, visitor, startup_ms, stalls, stalled_ms, error, switches, client`

/**
 * Returns an event as a line of COPY's text format, without the first column. The line is built as
 * one string, because the service stores tens of thousands of events per second.
 */
export function toLine(event: StoredEvent, day: string): string {
  const { quality, visitor } = event
  const idColumns = `${event.organisationId}\t${event.videoId}\t${event.viewId}\t${event.type}\t${event.durationMs}\t${event.positionMs ?? NULL}`
  const playbackColumns = `{${event.watched.join()}}\t{${event.rewatched.join()}}\t${escapeCopyText(event.language)}\t${escapeCopyText(event.subtitle)}`
  const qualityColumns = quality ? `${quality.startupMs ?? NULL}\t${quality.stalls}\t${quality.stalledMs}` : `${NULL}\t${NULL}\t${NULL}`
  const visitorColumn = visitor === undefined ? NULL : `\\\\x${visitor}`
  const switchesColumn = quality ? quality.switches : NULL
  const clientColumn = event.client === '' ? NULL : escapeCopyText(event.client)
  return `${day}\t${event.atMs}\t${event.receivedMs}\t${idColumns}\t${playbackColumns}\t${visitorColumn}\t${qualityColumns}\t${escapeCopyText(event.error)}\t${switchesColumn}\t${clientColumn}\n`
}

/**
 * Returns a line of this or an earlier version with all columns. A spool can contain lines without
 * the last columns, `switches` and `client`. Texts contain no tabs, because COPY's format escapes them.
 */
export function completeLine(line: string): string {
  const missing = LINE_COLUMNS - line.split('\t').length
  return missing > 0 ? `${line.slice(0, -1)}${`\t${NULL}`.repeat(missing)}\n` : line
}

/** Number of columns of a line, which has no batch id. */
const LINE_COLUMNS = COLUMNS.split(',').length - 1
