import { type CaptionSummaryRow, captionsOf } from '../caption/caption-row.ts'
import { SHOWN_CONTACT_FORM } from '../contact-form/contact-form-store.ts'
import type { MetadataEntry } from '../metadata/metadata.ts'
import { METADATA_ENTRIES } from '../metadata/metadata-store.ts'
import { SHOWN_OVERLAYS, type ShownOverlayRow, toShownOverlay } from '../overlay/overlay-row.ts'
import { SHOWN_PRESENTATION } from '../presentation/presentation-row.ts'
import { type RenditionSet, readSet, type StoredSet } from '../publishing/media/rendition-set.ts'
import type { Status } from '../publishing/media/status.ts'
import { EFFECTIVE_SETTING, NAMED_SETTING } from '../setting/setting-store.ts'
import type { Location, Video, VideoFields } from './video.ts'

/** The columns that users can change, in the order of `fieldValues`. */
export const FIELD_COLUMNS = `title, description, description_private, language, category, published_width, published_height, enabled,
  age_rating, tags, expire_time, expire_message, sharing_text, embed_within_social, languages, hd_allow, hd_auto, location,
  captions_show_on_load, javascript_api_json, monetization_json, events_triggered_by_click_json, presentation_id, setting_id, theme_id,
  contact_form_id, allowed_ips`

/** $1 to $27. */
export const FIELD_PARAMETERS = Array.from({ length: 27 }, (_, index) => `$${index + 1}`).join(', ')

export function fieldValues(fields: VideoFields): unknown[] {
  return [
    fields.title,
    fields.description,
    fields.descriptionPrivate,
    fields.language,
    fields.category,
    fields.publishedWidth ?? null,
    fields.publishedHeight ?? null,
    fields.enabled,
    fields.ageRating,
    fields.tags,
    fields.contentExpiry?.expireTime ?? null,
    fields.contentExpiry?.message ?? '',
    fields.sharing.text,
    fields.sharing.embedWithinSocial,
    JSON.stringify(fields.languages),
    fields.hd.allow,
    fields.hd.auto,
    fields.location ? JSON.stringify(fields.location) : null,
    fields.captionsShowOnLoad,
    fields.javascriptApiJson,
    fields.monetizationJson,
    fields.eventsTriggeredByClickJson,
    fields.presentationId,
    fields.settingId,
    fields.themeId,
    fields.contactFormId,
    fields.allowedIps,
  ]
}

/**
 * Selects videos joined with their media and organisation (append a WHERE clause). Dangling
 * references to a profile, theme, contact form or presentation read as empty.
 */
export const SELECT_VIDEO = `
  select v.video_id, v.media_id, v.organisation_id, v.title, v.description, v.description_private, v.language, v.category,
    v.published_width, v.published_height, v.enabled, v.age_rating, v.tags, v.expire_time, v.expire_message, v.sharing_text,
    v.embed_within_social, v.languages, v.hd_allow, v.hd_auto, v.location, v.captions_show_on_load, v.javascript_api_json,
    v.monetization_json, v.events_triggered_by_click_json,
    ${SHOWN_PRESENTATION} as presentation_id,
    ${SHOWN_CONTACT_FORM} as contact_form_id,
    v.allowed_ips, v.creator_id, v.last_modified_by_id, v.create_time, v.update_time, v.delivery_version, lower(v.title) as title_key,
    m.title as media_title, m.token_required, m.gif_status, m.state, m.progress, m.code, m.message, coalesce(m.renditions, m.preview) as renditions,
    ${captionsOf('v.media_id')} as captions,
    ${SHOWN_OVERLAYS} as overlays,
    ${METADATA_ENTRIES} as metadata,
    o.active as organisation_active, cardinality(v.allowed_ips) + cardinality(o.allowed_ips) > 0 as ip_restricted,
    coalesce((select v.setting_id from setting s where ${NAMED_SETTING}), '') as setting_id,
    coalesce((select v.theme_id from theme t where t.organisation_id = v.organisation_id and t.theme_id::text = v.theme_id), '') as theme_id,
    coalesce((select s.allow_download from setting s where ${EFFECTIVE_SETTING}), false) as download_allowed
  from video v join media m using (media_id) join organisation o on o.organisation_id = v.organisation_id`

export interface VideoRow {
  video_id: string
  media_id: string
  organisation_id: string
  title: string
  description: string
  description_private: string
  language: string
  category: string
  published_width: number | null
  published_height: number | null
  enabled: boolean
  age_rating: string
  tags: string[]
  expire_time: Date | null
  expire_message: string
  sharing_text: string
  embed_within_social: boolean
  languages: { code: string; title: string }[]
  hd_allow: boolean
  hd_auto: boolean
  location: Location | null
  captions_show_on_load: string
  javascript_api_json: string
  monetization_json: string
  events_triggered_by_click_json: string
  presentation_id: string
  setting_id: string
  theme_id: string
  contact_form_id: string
  allowed_ips: string[]
  creator_id: string
  last_modified_by_id: string
  create_time: Date
  update_time: Date
  delivery_version: string
  metadata: MetadataEntry[] | null
  title_key: string
  media_title: string
  token_required: boolean
  state: Status['state']
  progress: number
  code: number
  message: string
  renditions: StoredSet | null
  gif_status: number
  organisation_active: boolean
  ip_restricted: boolean
  download_allowed: boolean
  captions: CaptionSummaryRow[]
  overlays: ShownOverlayRow[]
}

export function toVideo(row: VideoRow): Video {
  return {
    videoId: row.video_id,
    mediaId: row.media_id,
    organisationId: row.organisation_id,
    organisationActive: row.organisation_active,
    title: row.title,
    mediaTitle: row.media_title,
    description: row.description,
    descriptionPrivate: row.description_private,
    language: row.language,
    category: row.category,
    publishedWidth: row.published_width ?? undefined,
    publishedHeight: row.published_height ?? undefined,
    enabled: row.enabled,
    ageRating: row.age_rating,
    tags: row.tags,
    contentExpiry: toExpiry(row),
    sharing: { text: row.sharing_text, embedWithinSocial: row.embed_within_social },
    languages: row.languages,
    hd: { allow: row.hd_allow, auto: row.hd_auto },
    location: row.location ?? undefined,
    captionsShowOnLoad: row.captions_show_on_load,
    javascriptApiJson: row.javascript_api_json,
    monetizationJson: row.monetization_json,
    eventsTriggeredByClickJson: row.events_triggered_by_click_json,
    presentationId: row.presentation_id,
    settingId: row.setting_id,
    themeId: row.theme_id,
    contactFormId: row.contact_form_id,
    tokenRequired: row.token_required,
    allowedIps: row.allowed_ips,
    ipRestricted: row.ip_restricted,
    creatorId: row.creator_id,
    lastModifiedById: row.last_modified_by_id,
    createTime: row.create_time,
    updateTime: row.update_time,
    status: { state: row.state, progress: row.progress, code: row.code, message: row.message },
    renditions: shownSet(row),
    deliveryVersion: row.delivery_version,
    metadata: row.metadata ?? [],
    downloadAllowed: row.download_allowed,
    captions: row.captions.map(({ captionId, title, language }) => ({ captionId, title, language })),
    overlays: row.overlays.map(toShownOverlay),
  }
}

function toExpiry({ expire_time, expire_message }: VideoRow): VideoFields['contentExpiry'] {
  return expire_time || expire_message ? { expireTime: expire_time ?? undefined, message: expire_message } : undefined
}

/** The preview of a set is only shown if the media enables it. */
function shownSet({ renditions, gif_status }: VideoRow): RenditionSet | undefined {
  const set = readSet(renditions)
  return set && { ...set, previewPath: gif_status === 1 ? set.previewPath : '' }
}
