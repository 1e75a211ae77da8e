import type { IncomingMessage } from 'node:http'
import { PassThrough, type Readable } from 'node:stream'
import { invalid } from '@vitascope/errors'
import { isStorable } from '@vitascope/request'
import { domainError } from '../http/problem.ts'
import { fieldPath, invalidField, malformed } from './field-errors.ts'
import { openMultipartParser } from './multipart-form.ts'
import { MAX_FIELDS, type Pair } from './urlencoded.ts'

/** Name of the part with the file. */
export const FILE_PART = 'file'
/** Maximum bytes before the file, including part headers. All fields of a payload fit at their maximum lengths. */
const MAX_FIELDS_BYTES = 256 * 1024
const REPLACEMENT = '\ufffd'

/** A multipart form whose last part may be a file. */
export interface FileForm {
  /** The fields in front of the file. */
  pairs: Pair[]
  /** The file, while its bytes arrive. Undefined if the form has none. */
  file: FormFile | undefined
}

export interface FormFile {
  /** File name as sent, without a path. May be empty. */
  name: string
  /** Ends when the complete form has been received. Fails if the form is malformed, has another part, or is aborted. */
  content: Readable
}

export interface FileFormReading {
  /** Resolves when the file starts, or when a form without a file has ended. */
  form: Promise<FileForm>
  /** Stops reading. The form or its file fails with this reason. */
  abort(reason: Error): void
}

/**
 * Reads a multipart form with at most one file, in the part `file`, which must be the last part. The file is streamed
 * and never buffered. Throws if there is another file or more than 256 KiB in front of the file.
 */
export function readFileForm(request: IncomingMessage): FileFormReading {
  const { promise, resolve, reject } = Promise.withResolvers<FileForm>()
  const parser = openMultipartParser(request.headers['content-type'] ?? '', MAX_FIELDS + 2)
  const pairs: Pair[] = []
  const content = new PassThrough().on('error', () => {})
  let hasFile = false
  let isDone = false
  let fieldBytes = 0
  const abort = (reason: Error) => {
    if (isDone) return
    isDone = true
    if (parser) request.unpipe(parser)
    if (hasFile) content.destroy(reason)
    else reject(reason)
  }
  if (!parser) {
    abort(malformed('malformed multipart body: the content type has no boundary'))
    return { form: promise, abort }
  }
  // The reader of the file has ended before the form, for example because the file was rejected.
  content.once('close', () => abort(new Error('the file is not read')))
  const scan = scanFor(REPLACEMENT)
  request.on('data', (chunk: Buffer) => hasFile || scan.add(chunk))
  parser.on('field', (name: string | undefined, value: string, _nameCut: boolean, cut: boolean) => {
    if (isDone) return
    if (name === undefined || name === '') return abort(invalidField('payload', 'every part must have a name'))
    if (hasFile) return abort(invalidField(fieldPath([name]), `must be sent in front of the part ${FILE_PART}`))
    if (name === FILE_PART) return abort(invalidField(FILE_PART, 'must be a file with a file name, not text'))
    if (cut || !isStorable(value) || !isStorable(name) || (value.includes(REPLACEMENT) && !scan.isFound()))
      return abort(invalidField(fieldPath([name]), 'must be well-formed UTF-8 without NUL'))
    // The chunk with the end of the fields may also contain the start of the file, so it is not counted below.
    fieldBytes += Buffer.byteLength(name) + Buffer.byteLength(value)
    if (fieldBytes > MAX_FIELDS_BYTES) return abort(fieldsTooLarge())
    pairs.push([name, value])
  })
  parser.on('file', (name: string | undefined, stream: Readable, filename: string | undefined) => {
    stream.on('error', () => abort(malformed('malformed multipart body')))
    if (isDone) return void stream.resume()
    if (hasFile || name !== FILE_PART) {
      stream.resume()
      const message = hasFile ? 'is a second file; send one file per request' : `must be text; send the file as the part ${FILE_PART}`
      return abort(invalid([{ field: fieldPath([name ?? 'payload']), message }]))
    }
    hasFile = true
    stream.pipe(content, { end: false })
    resolve({ pairs, file: { name: filename ?? '', content } })
  })
  parser.on('partsLimit', () => abort(invalidField('payload', `must not have more than ${MAX_FIELDS} fields`)))
  parser.on('error', () => abort(malformed('malformed multipart body')))
  parser.on('finish', () => {
    if (isDone) return
    isDone = true
    if (hasFile) content.end()
    else resolve({ pairs, file: undefined })
  })
  const onDisconnect = () => request.complete || abort(new DOMException('the client disconnected', 'AbortError'))
  request.on('close', onDisconnect).on('error', onDisconnect).pipe(parser)
  let bytes = 0
  // Registered after the parser, so that the beginning of the file in the same chunk is not counted.
  request.on('data', (chunk: Buffer) => {
    if (hasFile || isDone) return
    bytes += chunk.length
    if (bytes > MAX_FIELDS_BYTES) abort(fieldsTooLarge())
  })
  return { form: promise, abort }
}

function fieldsTooLarge(): Error {
  return domainError('invalid', 'PAYLOAD_TOO_LARGE', `the fields in front of the file have more than ${MAX_FIELDS_BYTES} bytes`)
}

/** Searches chunks for a text, also across their boundaries. */
function scanFor(text: string): { add(chunk: Buffer): void; isFound(): boolean } {
  const overlap = Buffer.byteLength(text) - 1
  let tail = Buffer.alloc(0)
  let isFound = false
  return {
    add(chunk) {
      if (isFound) return
      const bytes = Buffer.concat([tail, chunk])
      isFound = bytes.includes(text)
      tail = Buffer.from(bytes.subarray(Math.max(0, bytes.length - overlap)))
    },
    isFound: () => isFound,
  }
}
