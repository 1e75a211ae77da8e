import type { Overlay, OverlayContent, OverlayFields } from './overlay.ts'

/** The columns that users can change, in the order of `fieldValues`. */
export const FIELD_COLUMNS = `media_id, disabled, at_end, start_seconds, end_seconds, title, description, image_path, link_text, link_action,
  link_url, link_target, link_javascript_code, language, width, height`

export const COLUMNS = `overlay_id, organisation_id, ${FIELD_COLUMNS}, create_time, update_time`

/** The parameters of `fieldValues`: $1 to $16. */
export const FIELD_PARAMETERS = Array.from({ length: 16 }, (_, index) => `$${index + 1}`).join(', ')

export function fieldValues(fields: OverlayFields): unknown[] {
  return [
    fields.mediaId || null,
    fields.disabled,
    fields.atEnd,
    fields.startSeconds ?? null,
    fields.endSeconds ?? null,
    fields.title,
    fields.description,
    fields.imagePath,
    fields.linkText,
    fields.linkAction,
    fields.linkUrl,
    fields.linkTarget,
    fields.linkJavascriptCode,
    fields.language,
    fields.width ?? null,
    fields.height ?? null,
  ]
}

/**
 * SQL for the enabled overlays of a video `v` as one JSON column, ordered by id.
 */
export const ENABLED_OVERLAYS = `coalesce((select jsonb_agg(jsonb_build_object('overlayId', w.overlay_id::text, 'atEnd', w.at_end,
  'startSeconds', w.start_seconds, 'endSeconds', w.end_seconds, 'title', w.title, 'description', w.description, 'imagePath', w.image_path,
  'linkText', w.link_text, 'linkAction', w.link_action, 'linkUrl', w.link_url, 'linkTarget', w.link_target,
  'linkJavascriptCode', w.link_javascript_code, 'language', w.language, 'width', w.width, 'height', w.height) order by w.overlay_id)
  from overlay w where w.media_id = v.media_id and not w.disabled), '[]')`

/** One element of `ENABLED_OVERLAYS`. Missing numbers are null. */
export type OverlayContentRow = {
  [Name in keyof OverlayContent]: Exclude<OverlayContent[Name], undefined> | (undefined extends OverlayContent[Name] ? null : never)
}

export function toOverlayContent(row: OverlayContentRow): OverlayContent {
  return {
    ...row,
    startSeconds: row.startSeconds ?? undefined,
    endSeconds: row.endSeconds ?? undefined,
    width: row.width ?? undefined,
    height: row.height ?? undefined,
  }
}

export interface OverlayRow {
  overlay_id: string
  organisation_id: string
  media_id: string | null
  disabled: boolean
  at_end: boolean
  start_seconds: number | null
  end_seconds: number | null
  title: string
  description: string
  image_path: string
  link_text: string
  link_action: string
  link_url: string
  link_target: string
  link_javascript_code: string
  language: string
  width: number | null
  height: number | null
  create_time: Date
  update_time: Date
}

export function toOverlay(row: OverlayRow): Overlay {
  return {
    overlayId: row.overlay_id,
    organisationId: row.organisation_id,
    mediaId: row.media_id ?? '',
    disabled: row.disabled,
    atEnd: row.at_end,
    startSeconds: row.start_seconds ?? undefined,
    endSeconds: row.end_seconds ?? undefined,
    title: row.title,
    description: row.description,
    imagePath: row.image_path,
    linkText: row.link_text,
    linkAction: row.link_action,
    linkUrl: row.link_url,
    linkTarget: row.link_target,
    linkJavascriptCode: row.link_javascript_code,
    language: row.language,
    width: row.width ?? undefined,
    height: row.height ?? undefined,
    createTime: row.create_time,
    updateTime: row.update_time,
  }
}
