import type { ViewEvent } from './view.ts'

/** An event with the values that are stored. */
export interface StoredEvent extends ViewEvent {
  receivedMs: number
  /** Visitor id as 16 hex digits. Undefined if the client address is unknown. */
  visitor: string | undefined
}

/** The columns of the table `event` that `toEvent` reads. */
export const EVENT_COLUMNS = `at_ms, received_ms, organisation_id, video_id, view_id, type, duration_ms, position_ms, watched, rewatched, language, subtitle,
  visitor, startup_ms, stalls, stalled_ms, switches, error, client`

export interface EventRow {
  at_ms: string
  received_ms: string
  organisation_id: string
  video_id: string
  view_id: string
  type: number
  duration_ms: number
  position_ms: number | null
  watched: number[]
  rewatched: number[]
  language: string
  subtitle: string
  visitor: Buffer | null
  startup_ms: number | null
  stalls: number | null
  stalled_ms: number | null
  switches: number | null
  error: string
  client: string | null
}

export function toEvent(row: EventRow): StoredEvent {
  return {
    atMs: Number(row.at_ms),
    receivedMs: Number(row.received_ms),
    organisationId: row.organisation_id,
    videoId: row.video_id,
    viewId: row.view_id,
    type: row.type,
    durationMs: row.duration_ms,
    positionMs: row.position_ms ?? undefined,
    watched: row.watched,
    rewatched: row.rewatched,
    language: row.language,
    subtitle: row.subtitle,
    visitor: row.visitor?.toString('hex'),
    quality:
      row.stalls === null
        ? undefined
        : { startupMs: row.startup_ms ?? undefined, stalls: row.stalls, stalledMs: row.stalled_ms ?? 0, switches: row.switches ?? 0 },
    error: row.error,
    client: row.client ?? '',
  }
}
