import type { FieldError } from '@vitascope/errors'
import { SHOWN_CONTACT_FORM } from '../contact-form/contact-form-store.ts'
import { SHOWN_PRESENTATION } from '../presentation/presentation-row.ts'
import { REFERENCED_SETTING } from '../setting/setting-store.ts'
import {
  checkAddresses,
  checkExpiry,
  checkId,
  checkLanguage,
  checkLanguages,
  checkLocation,
  checkPixels,
  checkSharing,
  checkTags,
  jsonObject,
  text,
} from './video-checks.ts'
import type { AudioLanguage, ContentExpiry, Hd, Location, Sharing } from './video-values.ts'

type Row = Readonly<Record<string, unknown>>

/** One field of a video that users set. */
interface Field<Value> {
  /** The value of a new video. */
  initial: Value
  /** Returns the problems of a value. `name` is the proto name of the field. */
  check(value: Value, name: string): FieldError[]
  /** Columns of the table `video`, with the value that each stores. None for a field of the media. */
  columns?: Readonly<Record<string, (value: Value) => unknown>>
  /** SQL expressions by the name of their result, where it is not a column of the table `video`. */
  select?: Readonly<Record<string, string>>
  /** Returns the value of a selected row. */
  read(row: Row): Value
  /** Mask paths below the field that set a part of it. */
  parts?: Readonly<Record<string, (now: Value, given: Value) => Value>>
}

type More<Value> = Partial<Pick<Field<Value>, 'select' | 'columns'>>

/** Returns a field of one column, whose proto name is also the name of the column. */
function field<Value>(column: string, initial: Value, check: Field<Value>['check'], more: More<Value> = {}): Field<Value> {
  return {
    initial,
    check,
    columns: { [column]: (value: Value) => value ?? null },
    // The type of the column in the migration; an optional value is null there.
    read: (row) => (row[column] ?? initial) as Value,
    ...more,
  }
}

/** Returns the description itself, checked against the type of its value. */
function described<Value>(description: Field<Value>): Field<Value> {
  return description
}

const noCheck = () => []
const ofMedia = (column: string, expression: string) => ({ columns: {}, select: { [column]: expression } })

/**
 * All fields of a video that users set. Each is described here once: columns, parameters, reading,
 * masks and checks derive from it. A key in snake case is the proto name of the field and its mask
 * path. A new field needs its column in a migration, its proto field, and its public form in the gateway.
 */
export const VIDEO_FIELDS = {
  title: field('title', '', text({ min: 1, max: 255 })),
  mediaTitle: field('media_title', '', text({ min: 1, max: 255 }), ofMedia('media_title', 'm.title')),
  description: field('description', '', text({ max: 5_000 })),
  descriptionPrivate: field('description_private', '', text({ max: 5_000 })),
  language: field('language', '', checkLanguage),
  category: field('category', '', text({ max: 100 })),
  publishedWidth: field<number | undefined>('published_width', undefined, checkPixels),
  publishedHeight: field<number | undefined>('published_height', undefined, checkPixels),
  enabled: field<boolean>('enabled', true, noCheck),
  ageRating: field('age_rating', '', text({ max: 20 })),
  tags: field<string[]>('tags', [], checkTags),
  contentExpiry: described<ContentExpiry | undefined>({
    initial: undefined,
    check: checkExpiry,
    columns: { expire_time: (expiry) => expiry?.expireTime ?? null, expire_message: (expiry) => expiry?.message ?? '' },
    read(row) {
      const { expire_time: time, expire_message: message } = row as { expire_time: Date | null; expire_message: string }
      return time || message ? { expireTime: time ?? undefined, message } : undefined
    },
    parts: {
      expire_time: (now, given) => ({ message: now?.message ?? '', expireTime: given?.expireTime }),
      message: (now, given) => ({ expireTime: now?.expireTime, message: given?.message ?? '' }),
    },
  }),
  sharing: described<Sharing>({
    initial: { text: '', embedWithinSocial: false },
    check: checkSharing,
    columns: { sharing_text: (sharing) => sharing.text, embed_within_social: (sharing) => sharing.embedWithinSocial },
    read(row) {
      const { sharing_text: text, embed_within_social: embedWithinSocial } = row as { sharing_text: string; embed_within_social: boolean }
      return { text, embedWithinSocial }
    },
    parts: {
      text: (now, given) => ({ ...now, text: given.text }),
      embed_within_social: (now, given) => ({ ...now, embedWithinSocial: given.embedWithinSocial }),
    },
  }),
  languages: field<AudioLanguage[]>('languages', [], checkLanguages, { columns: { languages: (value) => JSON.stringify(value) } }),
  hd: described<Hd>({
    initial: { allow: true, auto: false },
    check: noCheck,
    columns: { hd_allow: (hd) => hd.allow, hd_auto: (hd) => hd.auto },
    read(row) {
      const { hd_allow: allow, hd_auto: auto } = row as { hd_allow: boolean; hd_auto: boolean }
      return { allow, auto }
    },
    parts: {
      allow: (now, given) => ({ ...now, allow: given.allow }),
      auto: (now, given) => ({ ...now, auto: given.auto }),
    },
  }),
  location: field<Location | undefined>('location', undefined, checkLocation, {
    columns: { location: (value) => (value ? JSON.stringify(value) : null) },
  }),
  captionsShowOnLoad: field('captions_show_on_load', '', text({ max: 255 })),
  javascriptApiJson: field('javascript_api_json', '', jsonObject),
  monetizationJson: field('monetization_json', '', jsonObject),
  eventsTriggeredByClickJson: field('events_triggered_by_click_json', '', jsonObject),
  // An id of something that was deleted reads as empty.
  presentationId: field('presentation_id', '', checkId, { select: { presentation_id: SHOWN_PRESENTATION } }),
  settingId: field('setting_id', '', checkId, {
    select: { setting_id: `coalesce((select v.setting_id from setting s where ${REFERENCED_SETTING}), '')` },
  }),
  themeId: field('theme_id', '', checkId, {
    select: {
      theme_id: `coalesce((select v.theme_id from theme t where t.organisation_id = v.organisation_id and t.theme_id::text = v.theme_id), '')`,
    },
  }),
  contactFormId: field('contact_form_id', '', checkId, { select: { contact_form_id: SHOWN_CONTACT_FORM } }),
  tokenRequired: field<boolean>('token_required', false, noCheck, ofMedia('token_required', 'm.token_required')),
  allowedIps: field<string[]>('allowed_ips', [], checkAddresses),
}

export type VideoFields = { [Key in keyof typeof VIDEO_FIELDS]: (typeof VIDEO_FIELDS)[Key]['initial'] }
export type VideoFieldName = keyof VideoFields

/** The fields with the proto name of each. Each value has the type of its own field. */
export const FIELD_ENTRIES = Object.entries(VIDEO_FIELDS).map(([key, description]) => ({
  key: key as VideoFieldName,
  protoName: snakeCase(key),
  // The description is only used with the value under its own key.
  ...(description as Field<unknown>),
}))

/** Returns the fields of a new video with a title and default values. */
export function newVideoFields(title: string): VideoFields {
  return { ...fieldsFrom(({ initial }) => initial), title, mediaTitle: title }
}

/** Returns the fields of a row that `FIELD_SELECTION` selected. */
export function readVideoFields(row: object): VideoFields {
  return fieldsFrom(({ read }) => read(row as Row))
}

function fieldsFrom(toValue: (field: Field<unknown>) => unknown): VideoFields {
  return Object.fromEntries(FIELD_ENTRIES.map((entry) => [entry.key, toValue(entry)])) as unknown as VideoFields
}

/** Returns the problems of the named fields, under their proto names or those in `names`. */
export function checkVideoFields(
  fields: VideoFields,
  keys: Iterable<VideoFieldName>,
  names: Partial<Record<VideoFieldName, string>> = {},
): FieldError[] {
  return [...keys].flatMap((key) => (VIDEO_FIELDS[key] as Field<unknown>).check(fields[key], names[key] ?? snakeCase(key)))
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
