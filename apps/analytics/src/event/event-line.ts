import { copyText, NULL } from './copy-text.ts'
import type { KeptEvent } from './event.ts'

/** The columns of a line, behind the batch that is told only when it is written. */
export const COLUMNS = `batch_id, day, at_ms, received_ms, organisation_id, video_id, view_id, type, duration_ms, position_ms, watched,
  rewatched, language, subtitle, visitor, startup_ms, stalls, stalled_ms, error`

/** An event as a line of COPY's text form, without the first column. One text from the start: there are tens of thousands a second. */
export function toLine(event: KeptEvent, day: string): string {
  const { quality, visitor } = event
  const place = `${event.organisationId}\t${event.videoId}\t${event.viewId}\t${event.type}\t${event.durationMs}\t${event.positionMs ?? NULL}`
  const seen = `{${event.watched.join()}}\t{${event.rewatched.join()}}\t${copyText(event.language)}\t${copyText(event.subtitle)}`
  const measured = quality ? `${quality.startupMs ?? NULL}\t${quality.stalls}\t${quality.stalledMs}` : `${NULL}\t${NULL}\t${NULL}`
  const who = visitor === undefined ? NULL : `\\\\x${visitor}`
  return `${day}\t${event.atMs}\t${event.receivedMs}\t${place}\t${seen}\t${who}\t${measured}\t${copyText(event.error)}\n`
}
