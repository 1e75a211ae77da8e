import { isDomainError } from '@vitascope/errors'
import { isDay, isId, isStorable, lengthUpTo } from '@vitascope/request'
import { parseAddressRules } from '@vitascope/security'
import { z } from 'zod'
import { parseJsonText } from '../payload/json-text.ts'
import { parseTimestamp, parseZonedTimestamp } from './dates.ts'
import { type Clash, checked, field, problem, Rejection, reject } from './field.ts'
import { idExample } from './id-example.ts'

/** Metadata of a field in the API document. */
export interface FieldDocs {
  description?: string
  example?: unknown
  [more: string]: unknown
}

const NOT_STORABLE = 'must be well-formed Unicode without NUL'
/** Longer than any key, address or id, so that cutting a path part cannot produce a valid one. */
const MAX_PATH_PART_LENGTH = 300

/**
 * An id in a path. A malformed id is not rejected here. It is cut to a length that no id has, and the
 * service returns 404 because no record has it.
 */
export function id(noun: string, docs: FieldDocs = {}) {
  return pathPart({ description: `Id of the ${noun}.`, example: idExample(noun), ...docs })
}

/** Any other text in a path that identifies something. */
export function pathPart(docs: FieldDocs) {
  return field(
    (value) => (typeof value !== 'string' || !isStorable(value) ? reject(NOT_STORABLE) : value.slice(0, MAX_PATH_PART_LENGTH)),
    z.string().meta(docs),
  )
}

/** An id in a query or payload: digits, or a JSON number that represents them exactly. */
export function idField(noun: string, docs: FieldDocs = {}) {
  return field(
    readId,
    z.string().meta({ description: `Id of the ${noun}.`, pattern: '^[1-9][0-9]{0,18}$', example: idExample(noun), ...docs }),
  )
}

/** Like `idField`, but an empty text or null means none and becomes an empty text. */
export function idOrNone(noun: string, docs: FieldDocs = {}) {
  return field(
    (value) => (value === '' || value === null ? '' : readId(value)),
    z.string().meta({
      description: `Id of the ${noun}. \`""\` or null means none.`,
      pattern: '^([1-9][0-9]{0,18})?$',
      example: idExample(noun),
      ...docs,
    }),
  )
}

/**
 * An organisation id in a query or payload. Ownership is checked instead of the format, so a
 * malformed id is rejected like that of another organisation.
 */
export function organisationIdField(docs: FieldDocs = {}) {
  return field(
    (value) => {
      if (typeof value === 'string') return isStorable(value) ? value.slice(0, MAX_PATH_PART_LENGTH) : reject(NOT_STORABLE)
      return readId(value)
    },
    z.string().meta({
      description: 'Id of the organisation. Only a system key may name another organisation than its own.',
      example: '1',
      ...docs,
    }),
  )
}

/** An integer as a JSON number or a text of digits. */
export function int({ min, max }: { min: number; max: number }, docs: FieldDocs = {}) {
  const message = `must be an integer from ${min} to ${max}`
  return field(
    (value) => {
      const number = typeof value === 'string' && /^-?\d{1,16}$/.test(value) ? Number(value) : value
      return Number.isSafeInteger(number) && Number(number) >= min && Number(number) <= max ? number : reject(message)
    },
    z.int(problem(message)).min(min).max(max).meta(docs),
  )
}

/** A decimal number as a JSON number or a text of digits. */
export function decimal({ min, max }: { min: number; max: number }, docs: FieldDocs = {}) {
  const message = `must be a number from ${min} to ${max}`
  return field(
    (value) => {
      const number = typeof value === 'string' && /^-?\d{1,16}(\.\d{1,20})?$/.test(value) ? Number(value) : value
      return typeof number === 'number' && number >= min && number <= max ? number : reject(message)
    },
    z.number(problem(message)).min(min).max(max).meta(docs),
  )
}

const flags = new Map<unknown, boolean>([
  [true, true],
  [false, false],
  [1, true],
  [0, false],
  ['1', true],
  ['0', false],
  ['true', true],
  ['false', false],
])

/** A boolean: `0` or `1`, `"0"` or `"1"`, true or false. */
export function flag(docs: FieldDocs = {}) {
  return field((value) => flags.get(value) ?? reject('must be 0 or 1, true or false'), z.boolean().meta(docs))
}

/** A field that can be cleared: an empty text or null becomes null. */
export function clearable<Inner extends z.ZodType>(inner: Inner) {
  return field((value) => (value === '' ? null : value), inner.nullable())
}

/** A text of at most `max` characters (code points). With a `min` it must not be blank. */
export function text(
  max: number,
  {
    min = 0,
    pattern,
    message,
    findFault,
  }: { min?: number; pattern?: RegExp; message?: string; findFault?: (text: string) => string | undefined } = {},
  docs: FieldDocs = {},
) {
  return field(
    (value) => {
      if (typeof value !== 'string') return reject('must be a text')
      if (!isStorable(value)) return reject(NOT_STORABLE)
      if (lengthUpTo(value, max) > max) return reject(`must have at most ${max} characters`)
      if (min > 0 && value.trim() === '') return reject('must not be blank')
      if (lengthUpTo(value, max) < min) return reject(`must have at least ${min} characters`)
      if (pattern !== undefined && !pattern.test(value)) return reject(message ?? 'is malformed')
      const fault = findFault?.(value)
      return fault === undefined ? value : reject(fault)
    },
    z.string().meta({ ...(min > 0 ? { minLength: min } : {}), maxLength: max, ...docs }),
  )
}

/** One of a fixed set of words. */
export function oneOf<const Words extends readonly [string, ...string[]]>(words: Words, docs: FieldDocs = {}) {
  return z.enum(words, problem(`must be one of: ${words.join(', ')}`)).meta(docs)
}

/** `YYYY-MM-DD HH:mm:ss` in UTC. */
export function timestamp(docs: FieldDocs = {}) {
  return field(
    (value) => (typeof value === 'string' && parseTimestamp(value)) || reject('must be a time such as 2030-12-31 23:59:59'),
    z.date().meta({ type: 'string', example: '2030-12-31 23:59:59', ...docs }),
  )
}

/** `YYYY-MM-DD`: an existing day, with years 1 to 9999. */
export function day(docs: FieldDocs = {}) {
  return field(
    (value) => (typeof value === 'string' && isDay(value) ? value : reject('must be a day such as 2030-12-31')),
    z.string().meta({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$', ...docs }),
  )
}

/** `YYYY-MM-DD HH:mm:ss ZONE`. An empty text or null means never. */
export function expiry(docs: FieldDocs = {}) {
  return field(
    (value) => {
      if (value === '' || value === null) return null
      const message = 'must be a time with a zone such as 2030-12-31 23:59:59 GMT; the zone is GMT, UTC, Z, +02:00 or an IANA name'
      return (typeof value === 'string' && parseZonedTimestamp(value)) || reject(message)
    },
    z
      .date()
      .nullable()
      .meta({ type: 'string', example: '2030-12-31 23:59:59 GMT', ...docs }),
  )
}

/** An object of known fields, or its JSON text. */
export function object<Fields extends z.ZodObject>(fields: Fields, docs: FieldDocs = {}) {
  return field((value) => readObject(value), fields.meta(docs))
}

/**
 * Any JSON object, or its JSON text, stored as JSON text of at most `maxBytes`. An empty text or
 * null means none.
 */
export function jsonObject(maxBytes: number, docs: FieldDocs = {}) {
  return field(
    (value) => {
      if (value === '' || value === null) return ''
      const object = readObject(value)
      if (object instanceof Rejection) return object
      const written = JSON.stringify(object)
      return Buffer.byteLength(written) <= maxBytes ? written : reject(`must have at most ${maxBytes} bytes of JSON`)
    },
    z.string().meta({ type: ['object', 'null'], additionalProperties: true, ...docs }),
  )
}

/** An object with free names that match `key` and values of one schema, or its JSON text. */
export function map<Value extends z.ZodType>(
  value: Value,
  { min = 0, max, key, keyMessage }: { min?: number; max: number; key: RegExp; keyMessage: string },
  docs: FieldDocs = {},
) {
  return field(
    (sent) => {
      const object = readObject(sent)
      if (object instanceof Rejection) return object
      // A zod record drops this name silently.
      if (Object.hasOwn(object, '__proto__')) return reject(`has an invalid name: ${keyMessage}`)
      if (Object.keys(object).length < min) return reject(`must have at least ${min} ${min === 1 ? 'entry' : 'entries'}`)
      return Object.keys(object).length > max ? reject(`must have at most ${max} entries`) : object
    },
    z.record(z.string().regex(key, keyMessage), value, problem('must be an object')).meta(docs),
  )
}

/**
 * An array, its JSON text, or a repeated field of a flat form. With `clearable`, an empty text or
 * null becomes an empty array.
 */
export function list<Item extends z.ZodType, Good = readonly unknown[]>(
  item: Item,
  {
    min = 0,
    max,
    clearable = false,
    clashes = () => [],
  }: { min?: number; max: number; clearable?: boolean; clashes?: (good: Good) => readonly Clash[] },
  docs: FieldDocs = {},
) {
  return field(
    (value) => {
      if (clearable && (value === '' || value === null)) return []
      if (typeof value === 'string' && value.trimStart().startsWith('[')) return parseJson(value)
      return typeof value === 'string' && value !== '' ? [value] : value
    },
    checked(atLeast(z.array(item, problem('must be an array')).max(max, `must have at most ${max} items`), min), clashes).meta(docs),
  )
}

function atLeast<Items extends z.ZodArray>(items: Items, min: number): Items {
  return min === 0 ? items : items.min(min, `must have at least ${min} ${min === 1 ? 'item' : 'items'}`)
}

/** 1 to 100 characters without white space. */
export function tag(docs: FieldDocs = {}) {
  const message = 'must have no white space; join words by hyphens'
  return text(100, { min: 1, pattern: /^\S+$/u, message }, { example: 'summer-2030', ...docs })
}

/** A language code in canonical form. `_` is accepted for `-`. */
export function language(docs: FieldDocs = {}) {
  return field(
    (value) => (typeof value === 'string' && canonicalLanguage(value)) || reject('must be a language code such as en or pt-BR'),
    z.string().meta({ example: 'en-GB', ...docs }),
  )
}

/**
 * At most `max` IPv4 or IPv6 addresses and CIDRs, normalised. An empty list means no restriction.
 */
export function addressList(max: number, docs: FieldDocs = {}) {
  const network = field(
    (value) => (typeof value === 'string' && canonicalNetwork(value)) || reject('must be an address, or a network such as 192.0.2.0/24'),
    z.string().meta({ example: '192.0.2.0/24' }),
  )
  return list(
    network,
    { max, clearable: true },
    { description: 'IP addresses and CIDRs that may load media files. Empty if all may.', ...docs },
  )
}

function readId(value: unknown): string | Rejection {
  if (typeof value === 'number' && !Number.isSafeInteger(value)) return reject('must be an id; send ids as strings')
  const written = typeof value === 'number' ? String(value) : value
  return typeof written === 'string' && isId(written) ? written : reject('must be an id: digits that do not begin with 0')
}

function readObject(value: unknown): object | Rejection {
  const object = typeof value === 'string' ? parseJson(value) : value
  if (object instanceof Rejection) return object
  return typeof object === 'object' && object !== null && !Array.isArray(object) ? object : reject('must be an object')
}

function parseJson(text: string): unknown {
  try {
    return parseJsonText(text, 'value')
  } catch (error) {
    if (isDomainError(error)) return reject(error.fields[0]?.message ?? `must be valid JSON: ${error.message}`)
    throw error
  }
}

function canonicalLanguage(code: string): string | undefined {
  if (code.length > 64) return undefined
  try {
    const [canonical] = Intl.getCanonicalLocales(code.replaceAll('_', '-'))
    return canonical !== undefined && isKnownLanguage(new Intl.Locale(canonical).language) ? canonical : undefined
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

const LANGUAGES = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' })

/**
 * Returns true for the two-letter codes of ISO 639-1 and for every three-letter code (ISO 639-2,
 * 639-3). Longer primary subtags such as `english` are well formed, but none is registered.
 */
function isKnownLanguage(language: string): boolean {
  return /^[a-z]{3}$/.test(language) || (/^[a-z]{2}$/.test(language) && LANGUAGES.of(language) !== undefined)
}

function canonicalNetwork(written: string): string | undefined {
  const rule = parseAddressRules([written]).rules?.[0]
  if (!rule) return undefined
  const isSingleAddress = rule.text.endsWith(rule.network.kind() === 'ipv4' ? '/32' : '/128')
  return isSingleAddress ? rule.network.toString() : rule.text
}
