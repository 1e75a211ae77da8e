import type { FieldError } from '@vitascope/errors'
import { parseAddressRules } from '@vitascope/security'
import { parseId } from '../rules/id.ts'
import { checkText } from '../rules/text.ts'
import type { ContentExpiry, Location, VideoFields } from './video.ts'

type Checks = { [K in keyof VideoFields]: (value: VideoFields[K], name: string) => FieldError[] }

const text = (max: number) => (value: string, name: string) => checkText(name, value, { max })
const title = (value: string, name: string) => checkText(name, value, { min: 1, max: 255 })
const flag = () => []
const MAX_JSON_LENGTH = 10_000
const LATEST = Date.UTC(9999, 11, 31, 23, 59, 59)
const MAX_LIST_ITEMS = 100

const CHECKS: Checks = {
  title,
  mediaTitle: title,
  description: text(5_000),
  descriptionPrivate: text(5_000),
  language: languageCode,
  category: text(100),
  publishedWidth: pixels,
  publishedHeight: pixels,
  enabled: flag,
  ageRating: text(20),
  tags: checkTags,
  contentExpiry: checkExpiry,
  sharing: (value, name) => checkText(`${name}.text`, value.text, { max: 1_000 }),
  languages: checkLanguages,
  hd: flag,
  location: checkLocation,
  captionsShowOnLoad: text(255),
  javascriptApiJson: jsonObject,
  monetizationJson: jsonObject,
  eventsTriggeredByClickJson: jsonObject,
  presentationId: idOrNone,
  settingId: idOrNone,
  themeId: idOrNone,
  contactFormId: idOrNone,
  tokenRequired: flag,
  allowedIps: checkAddresses,
}

/** Field names of the public API. */
const PUBLIC_NAMES: Record<keyof VideoFields, string> = {
  title: 'video_title',
  mediaTitle: 'media_title',
  description: 'description',
  descriptionPrivate: 'description_private',
  language: 'language',
  category: 'category',
  publishedWidth: 'published_width',
  publishedHeight: 'published_height',
  enabled: 'enabled',
  ageRating: 'age_rating',
  tags: 'tags',
  contentExpiry: 'content_expiry',
  sharing: 'sharing',
  languages: 'languages',
  hd: 'hd',
  location: 'location',
  captionsShowOnLoad: 'captions.show_on_load',
  javascriptApiJson: 'javascript_api',
  monetizationJson: 'monetization',
  eventsTriggeredByClickJson: 'events_triggered_by_click',
  presentationId: 'presentation_id',
  settingId: 'setting_id',
  themeId: 'theme_id',
  contactFormId: 'contact_form_id',
  tokenRequired: 'security.token_required_platform',
  allowedIps: 'security.allowed_ips',
}

/** Returns the problems of the named fields, with their public names or those in `names`. */
export function checkVideoFields(
  fields: VideoFields,
  keys: Iterable<keyof VideoFields>,
  names: Partial<Record<keyof VideoFields, string>> = {},
): FieldError[] {
  return [...keys].flatMap((key) => checkOne(fields, key, names[key] ?? PUBLIC_NAMES[key]))
}

/** Returns the texts without duplicates, in the order of their first occurrence. */
export function distinct(texts: readonly string[]): string[] {
  return [...new Set(texts)]
}

function checkOne<K extends keyof VideoFields>(fields: VideoFields, key: K, name: string): FieldError[] {
  return CHECKS[key](fields[key], name)
}

function checkTags(tags: string[], name: string): FieldError[] {
  if (tags.length > MAX_LIST_ITEMS) return [{ field: name, message: `must be at most ${MAX_LIST_ITEMS} tags` }]
  return tags.flatMap((tag, index) => checkTag(tag, `${name}[${index}]`))
}

export function checkTag(tag: string, field: string): FieldError[] {
  const problems = checkText(field, tag, { min: 1, max: 100 })
  return problems.length > 0 || !/\s/u.test(tag) ? problems : [{ field, message: 'must not contain white space: use hyphens' }]
}

function languageCode(code: string, field: string): FieldError[] {
  return code === '' || /^[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8}){0,5}$/.test(code)
    ? []
    : [{ field, message: 'must be a language code such as en or pt-BR' }]
}

function checkLanguages(languages: VideoFields['languages'], name: string): FieldError[] {
  if (languages.length > MAX_LIST_ITEMS) return [{ field: name, message: `must be at most ${MAX_LIST_ITEMS} languages` }]
  const codes = languages.map(({ code }) => code)
  return languages.flatMap(({ code, title: label }, index) => [
    ...(codes.indexOf(code) < index ? [{ field: `${name}[${index}].code`, message: 'must not be repeated' }] : []),
    ...(code === '' ? [{ field: `${name}[${index}].code`, message: 'must not be empty' }] : languageCode(code, `${name}[${index}].code`)),
    ...checkText(`${name}[${index}].title`, label, { max: 100 }),
  ])
}

function pixels(value: number | undefined, field: string): FieldError[] {
  return value === undefined || (Number.isInteger(value) && value >= 1 && value <= 8192)
    ? []
    : [{ field, message: 'must be from 1 to 8192' }]
}

function checkExpiry(expiry: ContentExpiry | undefined, name: string): FieldError[] {
  if (!expiry) return []
  const time = expiry.expireTime?.getTime()
  const bad = time !== undefined && !(time >= 0 && time <= LATEST)
  return [
    ...(bad ? [{ field: `${name}.time`, message: 'must be a time from 1970 to 9999' }] : []),
    ...checkText(`${name}.message`, expiry.message, { max: 1_000 }),
  ]
}

function checkLocation(location: Location | undefined, name: string): FieldError[] {
  if (!location) return []
  return [
    ...checkText(`${name}.country`, location.country, { max: 100 }),
    ...checkText(`${name}.city`, location.city, { max: 100 }),
    ...checkText(`${name}.postcode`, location.postcode, { max: 20 }),
    ...degrees(location.latitude, 90, `${name}.latitude`),
    ...degrees(location.longitude, 180, `${name}.longitude`),
  ]
}

function degrees(value: number | undefined, max: number, field: string): FieldError[] {
  return value === undefined || Math.abs(value) <= max ? [] : [{ field, message: `must be from -${max} to ${max}` }]
}

export function jsonObject(value: string, field: string): FieldError[] {
  if (value === '') return []
  const problems = checkText(field, value, { max: MAX_JSON_LENGTH })
  return problems.length > 0 || isJsonObject(value) ? problems : [{ field, message: 'must be a JSON object' }]
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

function idOrNone(value: string, field: string): FieldError[] {
  return value === '' || parseId(value) ? [] : [{ field, message: 'must be an id, or empty for none' }]
}

function checkAddresses(addresses: string[], name: string): FieldError[] {
  if (addresses.length > MAX_LIST_ITEMS) return [{ field: name, message: `must be at most ${MAX_LIST_ITEMS} addresses` }]
  return [...(parseAddressRules(addresses, name).errors ?? [])]
}
