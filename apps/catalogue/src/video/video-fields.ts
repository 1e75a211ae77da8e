import type { FieldError } from '@vitascope/errors'
import { EXISTING_CONTACT_FORM } from '../contact-form/contact-form-store.ts'
import { EXISTING_PRESENTATION } from '../presentation/presentation-row.ts'
import { REFERENCED_SETTING } from '../setting/setting-store.ts'
import {
  checkAddresses,
  checkChapters,
  checkExpiry,
  checkId,
  checkJsonObject,
  checkLanguage,
  checkLanguages,
  checkLength,
  checkLocation,
  checkPixels,
  checkSharing,
  checkTags,
  checkVisibility,
  sortChapters,
} from './video-checks.ts'
import type { AudioLanguage, Chapter, ContentExpiry, Hd, Location, Sharing } from './video-values.ts'

type Row = Readonly<Record<string, unknown>>

/** One field of a video that users set. */
interface Field<Value> {
  /** The value of a new video. */
  initial: Value
  /** Returns the problems of a value. `name` is the proto name of the field. */
  check(value: Value, name: string): FieldError[]
  /** Columns of the table `video`, with functions that return their values. Empty for a field of the media. */
  columns?: Readonly<Record<string, (value: Value) => unknown>>
  /** SQL expressions by the name of their result. Names without an expression are columns of the table `video`. */
  select?: Readonly<Record<string, string>>
  /** Returns the value of a selected row. */
  read(row: Row): Value
  /** Functions that set one part of the field, by the mask path below the field. */
  parts?: Readonly<Record<string, (current: Value, input: Value) => Value>>
}

type ColumnOptions<Value> = Partial<Pick<Field<Value>, 'select' | 'columns'>>

/** Returns a field with one column, which has the proto name of the field. */
function field<Value>(column: string, initial: Value, check: Field<Value>['check'], options: ColumnOptions<Value> = {}): Field<Value> {
  return {
    initial,
    check,
    columns: { [column]: (value: Value) => value ?? null },
    // The column has this type. Undefined is stored as null.
    read: (row) => (row[column] ?? initial) as Value,
    ...options,
  }
}

/** Returns its argument. The call checks the type of a field that has several columns. */
function composite<Value>(description: Field<Value>): Field<Value> {
  return description
}

const acceptAny = () => []
const selectedFromMedia = (column: string, expression: string) => ({ columns: {}, select: { [column]: expression } })

/**
 * All fields of a video that users set. Columns, parameters, masks and checks derive from this
 * description. A key in snake case is the proto name of the field and its mask path. A new field also
 * needs a column in a migration, a proto field, and a public field in the gateway.
 */
export const VIDEO_FIELDS = {
  title: field('title', '', checkLength({ min: 1, max: 255 })),
  mediaTitle: field('media_title', '', checkLength({ min: 1, max: 255 }), selectedFromMedia('media_title', 'm.title')),
  description: field('description', '', checkLength({ max: 5_000 })),
  descriptionPrivate: field('description_private', '', checkLength({ max: 5_000 })),
  language: field('language', '', checkLanguage),
  category: field('category', '', checkLength({ max: 100 })),
  publishedWidth: field<number | undefined>('published_width', undefined, checkPixels),
  publishedHeight: field<number | undefined>('published_height', undefined, checkPixels),
  enabled: field<boolean>('enabled', true, acceptAny),
  visibility: field<string>('visibility', 'public', checkVisibility),
  ageRating: field('age_rating', '', checkLength({ max: 20 })),
  tags: field<string[]>('tags', [], checkTags),
  contentExpiry: composite<ContentExpiry | undefined>({
    initial: undefined,
    check: checkExpiry,
    columns: { expire_time: (expiry) => expiry?.expireTime ?? null, expire_message: (expiry) => expiry?.message ?? '' },
    read(row) {
      const { expire_time: time, expire_message: message } = row as { expire_time: Date | null; expire_message: string }
      return time || message ? { expireTime: time ?? undefined, message } : undefined
    },
    parts: {
      expire_time: (current, change) => ({ message: current?.message ?? '', expireTime: change?.expireTime }),
      message: (current, change) => ({ expireTime: current?.expireTime, message: change?.message ?? '' }),
    },
  }),
  sharing: composite<Sharing>({
    initial: { text: '', embedWithinSocial: false },
    check: checkSharing,
    columns: { sharing_text: (sharing) => sharing.text, embed_within_social: (sharing) => sharing.embedWithinSocial },
    read(row) {
      const { sharing_text: text, embed_within_social: embedWithinSocial } = row as { sharing_text: string; embed_within_social: boolean }
      return { text, embedWithinSocial }
    },
    parts: {
      text: (current, change) => ({ ...current, text: change.text }),
      embed_within_social: (current, change) => ({ ...current, embedWithinSocial: change.embedWithinSocial }),
    },
  }),
  languages: field<AudioLanguage[]>('languages', [], checkLanguages, { columns: { languages: (value) => JSON.stringify(value) } }),
  chapters: field<Chapter[]>('chapters', [], checkChapters, { columns: { chapters: (value) => JSON.stringify(sortChapters(value)) } }),
  hd: composite<Hd>({
    initial: { allow: true, auto: false },
    check: acceptAny,
    columns: { hd_allow: (hd) => hd.allow, hd_auto: (hd) => hd.auto },
    read(row) {
      const { hd_allow: allow, hd_auto: auto } = row as { hd_allow: boolean; hd_auto: boolean }
      return { allow, auto }
    },
    parts: {
      allow: (current, change) => ({ ...current, allow: change.allow }),
      auto: (current, change) => ({ ...current, auto: change.auto }),
    },
  }),
  location: field<Location | undefined>('location', undefined, checkLocation, {
    columns: { location: (value) => (value ? JSON.stringify(value) : null) },
  }),
  captionsShowOnLoad: field('captions_show_on_load', '', checkLength({ max: 255 })),
  javascriptApiJson: field('javascript_api_json', '', checkJsonObject),
  monetizationJson: field('monetization_json', '', checkJsonObject),
  eventsTriggeredByClickJson: field('events_triggered_by_click_json', '', checkJsonObject),
  // The id of a deleted record is read as empty.
  presentationId: field('presentation_id', '', checkId, { select: { presentation_id: EXISTING_PRESENTATION } }),
  settingId: field('setting_id', '', checkId, {
    select: { setting_id: `coalesce((select v.setting_id from setting s where ${REFERENCED_SETTING}), '')` },
  }),
  themeId: field('theme_id', '', checkId, {
    select: {
      theme_id: `coalesce((select v.theme_id from theme t where t.organisation_id = v.organisation_id and t.theme_id::text = v.theme_id), '')`,
    },
  }),
  contactFormId: field('contact_form_id', '', checkId, { select: { contact_form_id: EXISTING_CONTACT_FORM } }),
  tokenRequired: field<boolean>('token_required', false, acceptAny, selectedFromMedia('token_required', 'm.token_required')),
  allowedIps: field<string[]>('allowed_ips', [], checkAddresses),
}

export type VideoFields = { [Key in keyof typeof VIDEO_FIELDS]: (typeof VIDEO_FIELDS)[Key]['initial'] }
export type VideoFieldName = keyof VideoFields

/** The fields with their keys and proto names. */
export const FIELD_ENTRIES = Object.entries(VIDEO_FIELDS).map(([key, description]) => ({
  key: key as VideoFieldName,
  protoName: toSnakeCase(key),
  // Each description is only used with the value of its key.
  ...(description as Field<unknown>),
}))

/** Returns the fields of a new video with a title and default values. */
export function createVideoFields(title: string): VideoFields {
  return { ...mapFields(({ initial }) => initial), title, mediaTitle: title }
}

/** Returns the fields of a row that `FIELD_SELECTION` selected. */
export function readVideoFields(row: object): VideoFields {
  return mapFields(({ read }) => read(row as Row))
}

function mapFields(toValue: (field: Field<unknown>) => unknown): VideoFields {
  return Object.fromEntries(FIELD_ENTRIES.map((entry) => [entry.key, toValue(entry)])) as unknown as VideoFields
}

/** Returns the problems of the fields in `keys`. The problems contain proto names, or the names in `names`. */
export function checkVideoFields(
  fields: VideoFields,
  keys: Iterable<VideoFieldName>,
  names: Partial<Record<VideoFieldName, string>> = {},
): FieldError[] {
  return [...keys].flatMap((key) => (VIDEO_FIELDS[key] as Field<unknown>).check(fields[key], names[key] ?? toSnakeCase(key)))
}

function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
