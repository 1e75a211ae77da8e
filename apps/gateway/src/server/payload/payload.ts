import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { invalid } from '@vitascope/errors'
import { domainError } from '../http/problem.ts'
import { parseCanonicalJson, Validated } from './canonical-json.ts'
import { fieldPath, invalidField, malformed } from './field-errors.ts'
import { unflatten } from './form-fields.ts'
import { parseJsonItems, parseJsonText } from './json-text.ts'
import { parseMultipartForm } from './multipart-form.ts'
import type { LineForm, PayloadSchema } from './payload-schema.ts'
import { type Pair, parseUrlencoded } from './urlencoded.ts'

type PayloadForm = Pick<PayloadSchema, 'kinds' | 'flatItem' | 'lenient' | 'plainJson' | 'lines' | 'fastParse' | 'fileAdvice'>

/**
 * Returns the payload of a write from any of its forms: a JSON body, a JSON string in `data` of a
 * form or of the query, or the flat fields of a form. Returns undefined if there is none, and
 * `Validated` if the route parsed it without its schema. `bytes` is the body, if any.
 */
export async function readPayload(
  request: IncomingMessage,
  bytes: Buffer | undefined,
  query: readonly Pair[],
  form: PayloadForm,
): Promise<unknown> {
  const acceptsData = acceptsDataField(form)
  const queried = queriedData(query, form, bytes !== undefined)
  if (!bytes) return queried[0] && parseJson(queried[0][1], form, 'data')
  const { type, header } = readContentType(request)
  if (form.lines && (type === form.lines.type || type === 'text/plain')) return readLines(decodeText(bytes), form.lines)
  if (type === 'application/json' || (form.plainJson && type === 'text/plain')) return parseJsonPayload(decodeText(bytes), form)
  if (type === 'application/x-www-form-urlencoded') return parseFormPayload(parseUrlencoded(decodeText(bytes)), form, acceptsData)
  if (type === 'multipart/form-data') return parseFormPayload(await parseMultipartForm(bytes, header, form.fileAdvice), form, acceptsData)
  throw unsupported(
    `send ${form.lines ? `${form.lines.type}, ` : ''}application/json, application/x-www-form-urlencoded or multipart/form-data`,
  )
}

/** Returns the payload in the fields of a form that has been parsed already. */
export function readFormPayload(pairs: readonly Pair[], query: readonly Pair[], form: PayloadForm): unknown {
  queriedData(query, form, true)
  return parseFormPayload(pairs, form, acceptsDataField(form))
}

/** Returns whether a field `data` contains the payload as JSON. It does not if the payload itself has a field named `data`. */
function acceptsDataField({ kinds }: PayloadForm): boolean {
  return !kinds.has('data')
}

/** Returns the parameters `data` of the query. Throws if there are several, or one and a body. */
function queriedData(query: readonly Pair[], form: PayloadForm, hasBody: boolean): readonly Pair[] {
  const queried = acceptsDataField(form) ? query.filter(([name]) => name === 'data') : []
  if (queried.length > 1 || (hasBody && queried.length > 0)) throw invalidField('data', 'must not be repeated or sent together with a body')
  return queried
}

/** Returns an item for each line. The line feed at the end of the text is optional. */
function readLines(text: string, { field }: LineForm): Record<string, string>[] {
  return text
    .replace(/\r?\n$/, '')
    .split(/\r?\n/)
    .map((line) => ({ [field]: line }))
}

function parseJsonPayload(text: string, form: PayloadForm): unknown {
  const fastResult = form.fastParse?.(parseCanonicalJson(text))
  return fastResult === undefined ? parseJson(text, form) : new Validated(fastResult)
}

function parseJson(text: string, { lenient }: PayloadForm, field?: string): unknown {
  return lenient ? parseJsonItems(text, field) : parseJsonText(text, field)
}

function parseFormPayload(pairs: readonly Pair[], form: PayloadForm, acceptsData: boolean): unknown {
  const { kinds, flatItem } = form
  const data = acceptsData ? pairs.filter(([name]) => name === 'data') : []
  if (data.length > 1) throw invalidField('data', 'must not be repeated')
  if (!data[0]) return flatItem ? [unflatten(pairs, kinds)] : unflatten(pairs, kinds)
  const otherNames = [...new Set(pairs.map(([name]) => name))].filter((name) => name !== 'data')
  if (otherNames.length > 0)
    throw invalid(otherNames.map((name) => ({ field: fieldPath([name]), message: 'must not be combined with data' })))
  return parseJson(data[0][1], form, 'data')
}

function readContentType(request: IncomingMessage): { type: string; header: string } {
  const header = request.headers['content-type'] ?? ''
  const coding = request.headers['content-encoding']
  if (coding !== undefined && coding !== 'identity') throw unsupported('the body must not be compressed')
  const [, charset] = /;\s*charset="?([^";\s]+)/i.exec(header) ?? []
  if (charset !== undefined && !/^(utf-?8|us-ascii)$/i.test(charset)) throw unsupported('the body must be UTF-8')
  return { type: header.split(';', 1)[0]?.trim().toLowerCase() ?? '', header }
}

function decodeText(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw malformed('the body is not valid UTF-8')
  const text = bytes.toString('utf8')
  return text.startsWith('\ufeff') ? text.slice(1) : text
}

function unsupported(message: string) {
  return domainError('invalid', 'UNSUPPORTED_MEDIA_TYPE', message)
}
