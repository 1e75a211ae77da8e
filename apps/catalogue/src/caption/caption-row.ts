import type { Caption } from './caption.ts'

export const COLUMNS = `caption_id, media_id, organisation_id, title, language, revision, created_by_user_id, last_modified_by_user_id,
  create_time, update_time`

/**
 * Returns SQL for the captions of a media as one JSON column, ordered by id. Delivery uses `revision`.
 */
export const selectCaptions = (
  mediaId: string,
) => `coalesce((select jsonb_agg(jsonb_build_object('captionId', c.caption_id::text, 'title', c.title,
  'language', c.language, 'revision', c.revision) order by c.caption_id) from caption c where c.media_id = ${mediaId}), '[]')`

/** One element of the column of `selectCaptions`. */
export interface CaptionSummaryRow {
  captionId: string
  title: string
  language: string
  revision: number
}

export interface CaptionRow {
  caption_id: string
  media_id: string
  organisation_id: string
  title: string
  language: string
  revision: number
  created_by_user_id: string
  last_modified_by_user_id: string
  create_time: Date
  update_time: Date
}

export function toCaption(row: CaptionRow): Caption {
  return {
    captionId: row.caption_id,
    mediaId: row.media_id,
    organisationId: row.organisation_id,
    title: row.title,
    language: row.language,
    revision: row.revision,
    createdByUserId: row.created_by_user_id,
    lastModifiedByUserId: row.last_modified_by_user_id,
    createTime: row.create_time,
    updateTime: row.update_time,
  }
}
