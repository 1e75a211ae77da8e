import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { Busboy } from '@fastify/busboy'
import { DomainError } from '@vitascope/errors'

const MOST_FIELDS = 60
/** A policy of 50 conditions in Base64 has less. */
const MOST_FIELD_BYTES = 128 * 1024

/**
 * Reads a multipart form whose last part is a file: `onFile` is given the fields before it, under names in lower case, and the bytes as they
 * come. The bytes end with an error where the form breaks off, so that nothing is taken for whole that is not.
 */
export async function receiveFileForm<Taken>(
  request: IncomingMessage,
  onFile: (fields: ReadonlyMap<string, string>, file: Readable) => Promise<Taken>,
): Promise<Taken> {
  const parser = openParser(request.headers['content-type'] ?? '')
  const fields = new Map<string, string>()
  let broken: Error | undefined
  let file: Readable | undefined
  try {
    return await new Promise<Taken>((resolve, reject) => {
      const fail = (error: Error) => {
        broken ??= error
        request.unpipe(parser)
        file?.destroy(broken)
        reject(broken)
      }
      parser.on('field', (given: string | undefined, value: string, _nameCut: boolean, cut: boolean) => {
        const name = (given ?? '').toLowerCase()
        if (file) return
        if (cut) fail(malformed(`the field ${name.slice(0, 100)} is too long`))
        else if (fields.has(name)) fail(malformed(`the field ${name.slice(0, 100)} is there twice`))
        else fields.set(name, value)
      })
      parser.on('file', (name: string | undefined, stream: Readable) => {
        // Whoever reads it hears of errors; nobody else must.
        stream.on('error', () => {})
        if (file || name?.toLowerCase() !== 'file') {
          stream.resume()
          fail(malformed('there must be one file, in the field file'))
          return
        }
        file = stream
        onFile(fields, stream).then(resolve, (error: unknown) => {
          stream.resume()
          reject(error)
        })
      })
      for (const limit of ['partsLimit', 'fieldsLimit', 'filesLimit'] as const) {
        parser.on(limit, () => file === undefined && fail(malformed(`a form has at most ${MOST_FIELDS} fields and one file`)))
      }
      parser.on('error', () => fail(malformed('the body is no multipart form as it should be')))
      parser.on('finish', () => file === undefined && fail(malformed('the field file is missing')))
      request.on('close', () => request.complete || fail(new DOMException('the caller hung up', 'AbortError')))
      request.on('error', () => fail(new DOMException('the caller hung up', 'AbortError')))
      request.pipe(parser)
    })
  } catch (error) {
    // What became of the bytes follows from what became of the form.
    throw broken ?? error
  }
}

function openParser(contentType: string) {
  try {
    if (!/^multipart\/form-data\b/i.test(contentType)) throw new Error('another type')
    return new Busboy({
      headers: { 'content-type': contentType },
      limits: { fields: MOST_FIELDS, parts: MOST_FIELDS + 1, files: 1, fieldSize: MOST_FIELD_BYTES, headerPairs: 20, headerSize: 8 * 1024 },
    })
  } catch {
    throw new DomainError('invalid', 'UNSUPPORTED_MEDIA_TYPE', 'the form must come as multipart/form-data with a boundary')
  }
}

function malformed(sentence: string): DomainError {
  return new DomainError('invalid', 'MALFORMED_PAYLOAD', sentence)
}
