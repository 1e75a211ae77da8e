import { type CaptionSummaryRow, selectCaptions } from '../caption/caption-row.ts'
import type { MetadataEntry } from '../metadata/metadata.ts'
import { METADATA_ENTRIES } from '../metadata/metadata-store.ts'
import { ENABLED_OVERLAYS, type OverlayContentRow, toOverlayContent } from '../overlay/overlay-row.ts'
import { POSTER_OF_VIDEO, type PosterRow, toPoster } from '../poster/poster.ts'
import { type RenditionSet, readSet, type StoredSet } from '../publishing/media/rendition-set.ts'
import type { Status } from '../publishing/media/status.ts'
import { EFFECTIVE_SETTING } from '../setting/setting-store.ts'
import type { Video } from './video.ts'
import { FIELD_ENTRIES, readVideoFields, type VideoFields } from './video-fields.ts'

/** The columns of the fields that users set, in the order of `fieldValues`. */
const STORED_COLUMNS = FIELD_ENTRIES.flatMap(({ key, columns = {} }) =>
  Object.entries(columns).map(([column, toSql]) => ({ column, value: (fields: VideoFields) => toSql(fields[key]) })),
)

export const FIELD_COLUMNS = STORED_COLUMNS.map(({ column }) => column).join(', ')

/** The parameters of `fieldValues`, from $1 on. */
export const FIELD_PARAMETERS = STORED_COLUMNS.map((_, index) => `$${index + 1}`).join(', ')

/** Returns the name of a parameter after those of `fieldValues`. The first has the index 1. */
export function parameterAfterFields(index: number): string {
  return `$${STORED_COLUMNS.length + index}`
}

export function fieldValues(fields: VideoFields): unknown[] {
  return STORED_COLUMNS.map(({ value }) => value(fields))
}

/** The expressions that `readVideoFields` reads, for `video v` joined with `media m` and `organisation o`. */
const FIELD_SELECTION = FIELD_ENTRIES.flatMap(({ columns = {}, select = {} }) =>
  [...new Set([...Object.keys(columns), ...Object.keys(select)])].map((name) => `${select[name] ?? `v.${name}`} as ${name}`),
).join(',\n    ')

/**
 * SQL that selects videos with their media and organisation. Append a WHERE clause. References to a
 * deleted profile, theme, contact form or presentation are empty.
 */
export const SELECT_VIDEO = `
  select v.video_id, v.media_id, v.organisation_id, v.creator_id, v.last_modified_by_id, v.create_time, v.update_time,
    v.delivery_version, lower(v.title) as title_key,
    ${POSTER_OF_VIDEO} as poster, m.gif_status, m.state, m.progress, m.code, m.message, coalesce(m.renditions, m.preview) as renditions,
    ${FIELD_SELECTION},
    ${selectCaptions('v.media_id')} as captions,
    ${ENABLED_OVERLAYS} as overlays,
    ${METADATA_ENTRIES} as metadata,
    o.active as organisation_active, cardinality(v.allowed_ips) + cardinality(o.allowed_ips) > 0 as ip_restricted,
    coalesce((select s.allow_download from setting s where ${EFFECTIVE_SETTING}), false) as download_allowed
  from video v join media m using (media_id) join organisation o on o.organisation_id = v.organisation_id`

/** The columns of `SELECT_VIDEO` other than those of the fields that users set. */
export interface VideoRow {
  video_id: string
  media_id: string
  organisation_id: string
  creator_id: string
  last_modified_by_id: string
  create_time: Date
  update_time: Date
  delivery_version: string
  metadata: MetadataEntry[] | null
  title_key: string
  state: Status['state']
  progress: number
  code: number
  message: string
  renditions: StoredSet | null
  poster: PosterRow | null
  gif_status: number
  organisation_active: boolean
  ip_restricted: boolean
  download_allowed: boolean
  captions: CaptionSummaryRow[]
  overlays: OverlayContentRow[]
}

export function toVideo(row: VideoRow): Video {
  return {
    ...readVideoFields(row),
    videoId: row.video_id,
    mediaId: row.media_id,
    organisationId: row.organisation_id,
    organisationActive: row.organisation_active,
    ipRestricted: row.ip_restricted,
    creatorId: row.creator_id,
    lastModifiedById: row.last_modified_by_id,
    createTime: row.create_time,
    updateTime: row.update_time,
    status: { state: row.state, progress: row.progress, code: row.code, message: row.message },
    renditions: toVisibleSet(row),
    poster: row.poster ? toPoster(row.poster) : undefined,
    deliveryVersion: row.delivery_version,
    metadata: row.metadata ?? [],
    downloadAllowed: row.download_allowed,
    captions: row.captions.map(({ captionId, title, language }) => ({ captionId, title, language })),
    overlays: row.overlays.map(toOverlayContent),
  }
}

/** Returns the set of a video. It has a preview only if the media enables it. */
function toVisibleSet({ renditions, gif_status }: VideoRow): RenditionSet | undefined {
  const set = readSet(renditions)
  return set && { ...set, previewPath: gif_status === 1 ? set.previewPath : '' }
}
