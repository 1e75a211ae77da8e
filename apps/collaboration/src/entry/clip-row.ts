import type { Clip } from './clip.ts'

export interface ClipRow {
  clip_id: string
  entry_id: string
  title: string
  comments: string
  time_start: number
  time_finish: number
  type: string
  preview: boolean
  position: number
  /** A string if the row was read from JSON. */
  create_time: Date | string
  // An earlier release stored responses of idempotent calls without these three columns.
  time_start_millis?: number
  time_finish_millis?: number
  resolved?: boolean
}

export const CLIP_COLUMNS =
  'clip_id, entry_id, title, comments, time_start, time_finish, time_start_millis, time_finish_millis, type, preview, resolved, position, create_time'

/** SQL for the clips of the entry `e` as one JSON column, in their order. */
export const CLIPS_OF_ENTRY = `coalesce((
  select jsonb_agg(jsonb_build_object('clip_id', c.clip_id::text, 'entry_id', c.entry_id::text, 'title', c.title, 'comments', c.comments,
    'time_start', c.time_start, 'time_finish', c.time_finish, 'time_start_millis', c.time_start_millis,
    'time_finish_millis', c.time_finish_millis, 'type', c.type, 'preview', c.preview, 'resolved', c.resolved, 'position', c.position,
    'create_time', c.create_time) order by c.position)
  from clip c where c.entry_id = e.entry_id), '[]')`

export function toClip(row: ClipRow): Clip {
  return {
    clipId: row.clip_id,
    collaborationId: row.entry_id,
    title: row.title,
    comments: row.comments,
    timeStart: row.time_start,
    timeFinish: row.time_finish,
    timeStartMillis: row.time_start_millis ?? 0,
    timeFinishMillis: row.time_finish_millis ?? 0,
    type: row.type,
    preview: row.preview,
    resolved: row.resolved ?? false,
    position: row.position,
    createTime: new Date(row.create_time),
  }
}
