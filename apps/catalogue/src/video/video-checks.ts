import type { FieldError } from '@vitascope/errors'
import { checkText, isId } from '@vitascope/request'
import { parseAddressRules } from '@vitascope/security'
import { type AudioLanguage, type Chapter, type ContentExpiry, type Location, type Sharing, VISIBILITIES } from './video-values.ts'

const MAX_JSON_LENGTH = 10_000
const MAX_TIME_MS = Date.UTC(9999, 11, 31, 23, 59, 59)
const MAX_LIST_ITEMS = 100
const MAX_CHAPTERS = 200
const MAX_CHAPTER_START_MS = 86_400_000

/** Returns a function that checks the length of a text in characters. */
export function checkLength(bounds: { min?: number; max: number }) {
  return (value: string, name: string) => checkText(name, value, bounds)
}

/** Returns the texts without duplicates, in the order of their first occurrence. */
export function removeDuplicates(texts: readonly string[]): string[] {
  return [...new Set(texts)]
}

export function checkTags(tags: string[], name: string): FieldError[] {
  if (tags.length > MAX_LIST_ITEMS) return [{ field: name, message: `must be at most ${MAX_LIST_ITEMS} tags` }]
  return tags.flatMap((tag, index) => checkTag(tag, `${name}[${index}]`))
}

export function checkTag(tag: string, field: string): FieldError[] {
  const problems = checkText(field, tag, { min: 1, max: 100 })
  return problems.length > 0 || !/\s/u.test(tag) ? problems : [{ field, message: 'must not contain white space: use hyphens' }]
}

export function checkLanguage(code: string, field: string): FieldError[] {
  return code === '' || /^[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8}){0,5}$/.test(code)
    ? []
    : [{ field, message: 'must be a language code such as en or pt-BR' }]
}

export function checkVisibility(visibility: string, field: string): FieldError[] {
  return VISIBILITIES.some((known) => known === visibility) ? [] : [{ field, message: `must be one of: ${VISIBILITIES.join(', ')}` }]
}

export function checkLanguages(languages: AudioLanguage[], name: string): FieldError[] {
  if (languages.length > MAX_LIST_ITEMS) return [{ field: name, message: `must be at most ${MAX_LIST_ITEMS} languages` }]
  const codes = languages.map(({ code }) => code)
  return languages.flatMap(({ code, title }, index) => [
    ...(codes.indexOf(code) < index ? [{ field: `${name}[${index}].code`, message: 'must not be repeated' }] : []),
    ...(code === '' ? [{ field: `${name}[${index}].code`, message: 'must not be empty' }] : checkLanguage(code, `${name}[${index}].code`)),
    ...checkText(`${name}[${index}].title`, title, { max: 100 }),
  ])
}

/** Returns the chapters in the order of their starts. */
export function sortChapters(chapters: readonly Chapter[]): Chapter[] {
  return chapters.map(({ title, startMs }) => ({ title, startMs })).toSorted((a, b) => a.startMs - b.startMs)
}

export function checkChapters(chapters: Chapter[], name: string): FieldError[] {
  if (chapters.length > MAX_CHAPTERS) return [{ field: name, message: `must be at most ${MAX_CHAPTERS} chapters` }]
  const starts = chapters.map(({ startMs }) => startMs)
  return chapters.flatMap(({ title, startMs }, index) => [
    ...checkText(`${name}[${index}].title`, title, { min: 1, max: 100 }),
    ...(startMs >= 0 && startMs <= MAX_CHAPTER_START_MS
      ? []
      : [{ field: `${name}[${index}].start_ms`, message: `must be from 0 to ${MAX_CHAPTER_START_MS}` }]),
    ...(starts.indexOf(startMs) < index ? [{ field: `${name}[${index}].start_ms`, message: 'must not be repeated' }] : []),
  ])
}

export function checkPixels(value: number | undefined, field: string): FieldError[] {
  return value === undefined || (Number.isInteger(value) && value >= 1 && value <= 8192)
    ? []
    : [{ field, message: 'must be from 1 to 8192' }]
}

export function checkSharing(sharing: Sharing, name: string): FieldError[] {
  return checkText(`${name}.text`, sharing.text, { max: 1_000 })
}

export function checkExpiry(expiry: ContentExpiry | undefined, name: string): FieldError[] {
  if (!expiry) return []
  const time = expiry.expireTime?.getTime()
  const isInvalid = time !== undefined && !(time >= 0 && time <= MAX_TIME_MS)
  return [
    ...(isInvalid ? [{ field: `${name}.expire_time`, message: 'must be a time from 1970 to 9999' }] : []),
    ...checkText(`${name}.message`, expiry.message, { max: 1_000 }),
  ]
}

export function checkLocation(location: Location | undefined, name: string): FieldError[] {
  if (!location) return []
  return [
    ...checkText(`${name}.country`, location.country, { max: 100 }),
    ...checkText(`${name}.city`, location.city, { max: 100 }),
    ...checkText(`${name}.postcode`, location.postcode, { max: 20 }),
    ...checkDegrees(location.latitude, 90, `${name}.latitude`),
    ...checkDegrees(location.longitude, 180, `${name}.longitude`),
  ]
}

function checkDegrees(value: number | undefined, max: number, field: string): FieldError[] {
  return value === undefined || Math.abs(value) <= max ? [] : [{ field, message: `must be from -${max} to ${max}` }]
}

export function checkJsonObject(value: string, field: string): FieldError[] {
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

export function checkId(value: string, field: string): FieldError[] {
  return value === '' || isId(value) ? [] : [{ field, message: 'must be an id, or empty for none' }]
}

export function checkAddresses(addresses: string[], name: string): FieldError[] {
  if (addresses.length > MAX_LIST_ITEMS) return [{ field: name, message: `must be at most ${MAX_LIST_ITEMS} addresses` }]
  return [...(parseAddressRules(addresses, name).errors ?? [])]
}
