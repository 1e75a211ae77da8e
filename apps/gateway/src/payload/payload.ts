import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { invalid } from '@vitascope/errors'
import { refusal } from '../http/problem.ts'
import { unflatten } from './flat-fields.ts'
import { parseJsonText } from './json-text.ts'
import { parseMultipartForm } from './multipart-form.ts'
import type { PayloadForm } from './payload-form.ts'
import { type Pair, parsePercentForm } from './percent-form.ts'
import { Checked, parsePlainJson } from './plain-json.ts'
import { badField, fieldPath, malformed } from './refusals.ts'

type Flattened = Pick<PayloadForm, 'kinds' | 'flatItem' | 'plainJson' | 'readPlain'>

/**
 * The payload of a write in whichever form it came: a JSON body; `data` of a form or of the query, holding a JSON string; or the flat
 * fields of a form. Undefined when there is none; `Checked` where the route reads it without its schema. `bytes` are those of the body, if it has any.
 */
export async function readPayload(
  request: IncomingMessage,
  bytes: Buffer | undefined,
  query: readonly Pair[],
  form: Flattened,
): Promise<unknown> {
  // A payload with a field of that name has it as any other.
  const wrapped = !form.kinds.has('data')
  const queried = wrapped ? query.filter(([name]) => name === 'data') : []
  if (queried.length > 1 || (bytes && queried.length > 0)) throw badField('data', 'must be there once, and not beside a body')
  if (!bytes) return queried[0] && parseJsonText(queried[0][1], 'data')
  const { type, header } = readContentType(request)
  if (type === 'application/json' || (form.plainJson && type === 'text/plain')) return fromJson(textOf(bytes), form)
  if (type === 'application/x-www-form-urlencoded') return fromForm(parsePercentForm(textOf(bytes)), form, wrapped)
  if (type === 'multipart/form-data') return fromForm(await parseMultipartForm(bytes, header), form, wrapped)
  throw unsupported('send application/json, application/x-www-form-urlencoded or multipart/form-data')
}

function fromJson(text: string, { readPlain }: Flattened): unknown {
  const plain = readPlain?.(parsePlainJson(text))
  return plain === undefined ? parseJsonText(text) : new Checked(plain)
}

function fromForm(pairs: readonly Pair[], { kinds, flatItem }: Flattened, wrapped: boolean): unknown {
  const data = wrapped ? pairs.filter(([name]) => name === 'data') : []
  if (data.length > 1) throw badField('data', 'must be there once')
  if (!data[0]) return flatItem ? [unflatten(pairs, kinds)] : unflatten(pairs, kinds)
  const others = [...new Set(pairs.map(([name]) => name))].filter((name) => name !== 'data')
  if (others.length > 0) throw invalid(others.map((name) => ({ field: fieldPath([name]), message: 'must not stand beside data' })))
  return parseJsonText(data[0][1], 'data')
}

function readContentType(request: IncomingMessage): { type: string; header: string } {
  const header = request.headers['content-type'] ?? ''
  const coding = request.headers['content-encoding']
  if (coding !== undefined && coding !== 'identity') throw unsupported('the body must not be compressed')
  const [, charset] = /;\s*charset="?([^";\s]+)/i.exec(header) ?? []
  if (charset !== undefined && !/^(utf-?8|us-ascii)$/i.test(charset)) throw unsupported('the body must be UTF-8')
  return { type: header.split(';', 1)[0]?.trim().toLowerCase() ?? '', header }
}

function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw malformed('the body is no UTF-8')
  const text = bytes.toString('utf8')
  return text.startsWith('\ufeff') ? text.slice(1) : text
}

function unsupported(message: string) {
  return refusal('invalid', 'UNSUPPORTED_MEDIA_TYPE', message)
}
