import { copyText, NULL } from '../view/copy-text.ts'
import type { StoredEvent } from '../view/event-row.ts'

/** The columns of an event. `batch_id` comes first and is only known when the batch is written. */
export const COLUMNS = `batch_id, day, at_ms, received_ms, organisation_id, video_id, view_id, type, duration_ms, position_ms, watched,
  rewatched, language, subtitle, visitor, startup_ms, stalls, stalled_ms, error`

/**
 * Returns an event as a line of COPY's text format, without the first column. It builds one string
 * directly, because there are tens of thousands of events per second.
 */
export function toLine(event: StoredEvent, day: string): string {
  const { quality, visitor } = event
  const idText = `${event.organisationId}\t${event.videoId}\t${event.viewId}\t${event.type}\t${event.durationMs}\t${event.positionMs ?? NULL}`
  const playbackText = `{${event.watched.join()}}\t{${event.rewatched.join()}}\t${copyText(event.language)}\t${copyText(event.subtitle)}`
  const qualityText = quality ? `${quality.startupMs ?? NULL}\t${quality.stalls}\t${quality.stalledMs}` : `${NULL}\t${NULL}\t${NULL}`
  const visitorText = visitor === undefined ? NULL : `\\\\x${visitor}`
  return `${day}\t${event.atMs}\t${event.receivedMs}\t${idText}\t${playbackText}\t${visitorText}\t${qualityText}\t${copyText(event.error)}\n`
}
