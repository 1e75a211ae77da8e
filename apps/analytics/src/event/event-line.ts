import type { KeptEvent } from './event.ts'

/** The columns of a line, behind the batch that is told only when it is written. */
export const COLUMNS = `batch_id, day, at_ms, received_ms, organisation_id, video_id, view_id, type, duration_ms, position_ms, watched,
  rewatched, language, subtitle, visitor, startup_ms, stalls, stalled_ms, error`

const NULL = '\\N'

/** An event as a line of COPY's text form, without the first column. */
export function toLine(event: KeptEvent, day: string): string {
  const { quality, visitor } = event
  return [
    day,
    event.atMs,
    event.receivedMs,
    event.organisationId,
    event.videoId,
    event.viewId,
    event.type,
    event.durationMs,
    event.positionMs ?? NULL,
    `{${event.watched.join(',')}}`,
    `{${event.rewatched.join(',')}}`,
    escaped(event.language),
    escaped(event.subtitle),
    visitor ? `\\\\x${Buffer.from(visitor).toString('hex')}` : NULL,
    quality?.startupMs ?? NULL,
    quality?.stalls ?? NULL,
    quality?.stalledMs ?? NULL,
    `${escaped(event.error)}\n`,
  ].join('\t')
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t')
}
