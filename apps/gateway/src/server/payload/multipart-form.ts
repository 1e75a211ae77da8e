import { Busboy } from '@fastify/busboy'
import { invalid } from '@vitascope/errors'
import { isStorable } from '@vitascope/request'
import { fieldPath, invalidField, malformed, Problems } from './field-errors.ts'
import { MAX_FIELDS, type Pair } from './urlencoded.ts'

/** Time limit for each slice. All bytes are in memory, so a parser that takes longer does not finish at all. */
const TIMEOUT_MS = 5_000
/** Bytes parsed per turn of the event loop: at worst about 900 parts, which take a few ms. */
const SLICE = 8 * 1024
const REPLACEMENT = '\ufffd'

/**
 * Returns the fields of a multipart/form-data body. Rejects files, with `fileAdvice` in the error
 * message.
 */
export function parseMultipartForm(bytes: Buffer, contentType: string, fileAdvice?: string): Promise<Pair[]> {
  return new Promise((resolve, reject) => {
    const pairs: Pair[] = []
    const problems = new Problems()
    const fail = () => settle(() => reject(malformed('malformed multipart body')))
    const timer = setTimeout(fail, TIMEOUT_MS)
    let settled = false
    const settle = (finish: () => void) => {
      clearTimeout(timer)
      settled = true
      finish()
    }
    const parser = openMultipartParser(contentType, MAX_FIELDS)
    if (!parser) return fail()
    // Invalid UTF-8 is decoded to this character, but it may also be part of the input.
    const hasReplacement = bytes.includes(REPLACEMENT)
    parser.on('field', (name: string | undefined, value, _nameCut, cut) => {
      if (name === undefined || name === '') problems.add('payload', 'every part must have a name')
      else if (cut || !isStorable(value) || !isStorable(name) || (value.includes(REPLACEMENT) && !hasReplacement))
        problems.add(fieldPath([name]), 'must be well-formed UTF-8 without NUL')
      else pairs.push([name, value])
    })
    parser.on('file', (name: string | undefined, stream) => {
      stream.on('error', fail).resume()
      problems.add(fieldPath([name ?? 'payload']), `must be text, not a file${fileAdvice === undefined ? '' : `; ${fileAdvice}`}`)
    })
    parser.on('partsLimit', () => settle(() => reject(invalidField('payload', `must not have more than ${MAX_FIELDS} fields`))))
    parser.on('error', fail)
    parser.on('finish', () => settle(() => (problems.list.length > 0 ? reject(invalid(problems.list)) : resolve(pairs))))
    const feed = (start: number) => {
      if (settled) return
      timer.refresh()
      const until = start + SLICE
      if (until < bytes.length) parser.write(bytes.subarray(start, until), () => setImmediate(feed, until))
      else parser.end(bytes.subarray(start))
    }
    feed(0)
  })
}

/** Returns a parser of multipart/form-data, or undefined if the content type has no boundary. */
export function openMultipartParser(contentType: string, maxParts: number) {
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      limits: { parts: maxParts, headerPairs: 20, headerSize: 8 * 1024 },
    })
  } catch {
    // The content type has no boundary.
    return undefined
  }
}
