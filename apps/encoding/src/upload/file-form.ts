import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { Busboy } from '@fastify/busboy'
import { DomainError } from '@vitascope/errors'
import type { FormGate } from './form-gate.ts'

const MAX_FIELDS = 60
/**
 * Maximum bytes before the file, including part headers. A policy has at most half of them
 * (`MAX_POLICY_BYTES`).
 */
const MAX_FIELDS_BYTES = 64 * 1024
/** The same limit as for other request bodies of the API. */
const FIELDS_TIMEOUT_MS = 13_000

export type FormFields = ReadonlyMap<string, string>

/**
 * Reads a multipart form whose last part is a file. `onFile` receives the fields before it, with
 * lower-case names, and the bytes as a stream. The stream fails if the form is aborted, so that
 * `onFile` never stores a partial file as a complete one. `onFields` is called after each field and
 * rejects the form by throwing. Throws `invalid` REQUEST_TIMEOUT if the file does not start within
 * 13 s, PAYLOAD_TOO_LARGE if it does not start within 64 KiB, and the error of the gate.
 */
export async function receiveFileForm<Result>(
  request: IncomingMessage,
  {
    gate,
    client,
    onFields,
    onFile,
    timeoutMs = FIELDS_TIMEOUT_MS,
  }: {
    gate: FormGate
    /** Address of the client. */
    client: string
    onFields: (fields: FormFields) => void
    onFile: (fields: FormFields, file: Readable) => Promise<Result>
    timeoutMs?: number
  },
): Promise<Result> {
  const parser = openParser(request.headers['content-type'] ?? '')
  const fields = new Map<string, string>()
  let broken: Error | undefined
  let file: Readable | undefined
  let endFields = () => {}
  try {
    return await new Promise<Result>((resolve, reject) => {
      const fail = (error: Error) => {
        broken ??= error
        endFields()
        request.unpipe(parser)
        // If the file has started, the caller gets the error after `onFile` has ended, so that
        // `onFile` can release its reservation first.
        if (file) file.destroy(broken)
        else reject(broken)
      }
      const leaveGate = gate.begin({ client, reject: fail })
      const timer = setTimeout(
        () => fail(new DomainError('invalid', 'REQUEST_TIMEOUT', `the file must start within ${timeoutMs / 1_000} s of the request`)),
        timeoutMs,
      )
      endFields = () => {
        leaveGate()
        clearTimeout(timer)
        fields.clear()
      }
      parser.on('field', (fieldName: string | undefined, value: string, _nameCut: boolean, cut: boolean) => {
        const name = (fieldName ?? '').toLowerCase()
        if (file || broken) return
        if (cut) fail(malformedForm(`the field ${name.slice(0, 100)} is too long`))
        else if (fields.has(name)) fail(malformedForm(`the field ${name.slice(0, 100)} is repeated`))
        else {
          fields.set(name, value)
          try {
            onFields(fields)
          } catch (error) {
            fail(error as Error)
          }
        }
      })
      parser.on('file', (name: string | undefined, stream: Readable) => {
        // The reader of the stream handles errors. This listener only prevents an uncaught one.
        stream.on('error', () => {})
        if (broken || file || name?.toLowerCase() !== 'file') {
          stream.resume()
          if (broken) return
          fail(malformedForm('the form must have exactly one file, in the field "file"'))
          return
        }
        file = stream
        const received = new Map(fields)
        endFields()
        onFile(received, stream).then(resolve, (error: unknown) => {
          stream.resume()
          reject(error)
        })
      })
      for (const limit of ['partsLimit', 'fieldsLimit', 'filesLimit'] as const) {
        parser.on(limit, () => file === undefined && fail(malformedForm(`a form has at most ${MAX_FIELDS} fields and one file`)))
      }
      parser.on('error', () => fail(malformedForm('malformed multipart body')))
      parser.on('finish', () => file === undefined && fail(malformedForm('the field "file" is missing')))
      request.on('close', () => request.complete || fail(new DOMException('the caller cancelled the call', 'AbortError')))
      request.on('error', () => fail(new DOMException('the caller cancelled the call', 'AbortError')))
      request.pipe(parser)
      let bytes = 0
      // Registered after the parser, so that bytes of the file in the same chunk are not counted.
      request.on('data', (chunk: Buffer) => {
        if (file || broken) return
        bytes += chunk.length
        if (bytes > MAX_FIELDS_BYTES) {
          fail(
            new DomainError(
              'invalid',
              'PAYLOAD_TOO_LARGE',
              `the fields before the file must have at most ${MAX_FIELDS_BYTES} bytes in all`,
            ),
          )
        }
      })
    })
  } catch (error) {
    // The error of the form is the cause of the error of its file.
    throw broken ?? error
  } finally {
    endFields()
  }
}

function openParser(contentType: string) {
  try {
    if (!/^multipart\/form-data\b/i.test(contentType)) throw new Error('another type')
    return new Busboy({
      headers: { 'content-type': contentType },
      limits: { fields: MAX_FIELDS, parts: MAX_FIELDS + 1, files: 1, fieldSize: MAX_FIELDS_BYTES, headerPairs: 20, headerSize: 8 * 1024 },
    })
  } catch {
    throw new DomainError('invalid', 'UNSUPPORTED_MEDIA_TYPE', 'the form must be sent as multipart/form-data with a boundary')
  }
}

function malformedForm(sentence: string): DomainError {
  return new DomainError('invalid', 'MALFORMED_PAYLOAD', sentence)
}
