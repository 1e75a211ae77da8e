import type { FieldError } from '@vitascope/errors'
import { checkText, isId } from '@vitascope/request'
import { findAddressProblem } from '../rules/web-address.ts'
import type { SettingFields } from './setting.ts'

type Checks = { [K in keyof SettingFields]: (value: SettingFields[K], name: string) => FieldError[] }

const acceptFlag = () => []
const checkLength = (max: number) => (value: string, name: string) => checkText(name, value, { max })
const MAX_JSON_LENGTH = 10_000
const MAX_ROLLS = 100
const MAX_SESSIONS = 100_000

const CHECKS: Checks = {
  title: checkLength(50),
  allowSharing: acceptFlag,
  allowDownload: acceptFlag,
  lowestQualityVersion: checkQuality,
  highestQualityVersion: checkQuality,
  rolls: checkRolls,
  logoAssetId: checkLength(100),
  logoDestinationUrl: checkWebAddress,
  captionsDefaultOn: acceptFlag,
  gaTrackerId: checkPattern(/^[\w.-]{0,100}$/, 'must be letters, digits, dots, hyphens and underscores, at most 100'),
  gaTrackerDomain: checkPattern(/^[\w.:-]{0,255}$/, 'must be a host name, at most 255 characters'),
  gaLibrary: checkPattern(/^(legacy|universal)$/, 'must be one of: legacy, universal'),
  monetization: (value, name) => checkJson(value, name),
  useHttpsEmbed: acceptFlag,
  showTitleBar: acceptFlag,
  sharingOpenLinkInNewWindow: acceptFlag,
  showOtherVideos: acceptFlag,
  isAutoPlay: acceptFlag,
  preBuffer: acceptFlag,
  showControls: acceptFlag,
  autohideControls: acceptFlag,
  showRss: acceptFlag,
  monetizationId: (value, name) =>
    value === undefined || (Number.isSafeInteger(value) && value >= 0) ? [] : [{ field: name, message: 'must be an integer from 0' }],
  embedWmode: checkPattern(/^[A-Za-z]{0,50}$/, 'must be a word of at most 50 letters'),
  useJavascriptApi: acceptFlag,
  javascriptApiAllowedDomains: checkLength(2_000),
  maxSessions: (value, name) =>
    value === undefined || (Number.isSafeInteger(value) && value >= 1 && value <= MAX_SESSIONS)
      ? []
      : [{ field: name, message: `must be an integer from 1 to ${MAX_SESSIONS}` }],
}

/** Returns the problems of the fields in `keys`, including conflicts with other fields. */
export function checkSetting(fields: SettingFields, keys: ReadonlySet<keyof SettingFields>): FieldError[] {
  const problems = [...keys].flatMap((key) => checkField(fields, key))
  const { lowestQualityVersion: lowest, highestQualityVersion: highest } = fields
  const isInvalid = [lowest, highest].some((kbits) => checkQuality(kbits, '').length > 0)
  if (isInvalid || lowest <= highest) return problems
  const field = keys.has('lowestQualityVersion') ? 'lowest_quality_version' : 'highest_quality_version'
  return [...problems, { field, message: `no rendition is between ${lowest} and ${highest}; the lowest must not be above the highest` }]
}

function checkField<K extends keyof SettingFields>(fields: SettingFields, key: K): FieldError[] {
  return CHECKS[key](
    fields[key],
    key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  )
}

function checkQuality(value: number, field: string): FieldError[] {
  return Number.isInteger(value) && value >= 100 && value <= 6_000 ? [] : [{ field, message: 'must be an integer from 100 to 6000' }]
}

function checkPattern(pattern: RegExp, message: string): (value: string, field: string) => FieldError[] {
  return (value, field) => (pattern.test(value) ? [] : [{ field, message }])
}

function checkWebAddress(value: string, field: string): FieldError[] {
  const problems = checkText(field, value, { max: 2_000 })
  const message = problems.length === 0 ? findAddressProblem(value, { paths: false }) : undefined
  return message === undefined ? problems : [{ field, message }]
}

function checkRolls(value: string, field: string): FieldError[] {
  const problems = checkJson(value, field)
  if (value === '' || problems.length > 0) return problems
  // `checkJson` has validated the value as a JSON object.
  const { pre = [], post = [], show_timer = false, ...unknownKeys } = JSON.parse(value) as Record<string, unknown>
  const isValid = isIdList(pre) && isIdList(post) && typeof show_timer === 'boolean' && Object.keys(unknownKeys).length === 0
  return isValid ? [] : [{ field, message: `must be {pre, post, show_timer}: at most ${MAX_ROLLS} ids each, and true or false` }]
}

function isIdList(value: unknown): boolean {
  return Array.isArray(value) && value.length <= MAX_ROLLS && value.every((id) => typeof id === 'string' && isId(id))
}

function checkJson(value: string, field: string): FieldError[] {
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
