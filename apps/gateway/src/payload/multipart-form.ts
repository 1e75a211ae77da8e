import { Busboy } from '@fastify/busboy'
import { invalid } from '@vitascope/errors'
import { MOST_FIELDS, type Pair } from './percent-form.ts'
import { badField, fieldPath, malformed, Problems } from './refusals.ts'

/** All bytes are there when it begins, so a parser that has not gone on by then never will. */
const LONGEST_MS = 5_000
/** Bytes that are read in one go: at worst some 900 parts, which take a few ms. Then others have their turn. */
const SLICE = 8 * 1024
const REPLACEMENT = '\ufffd'

/** Reads the fields of a multipart/form-data body; files are refused. */
export function parseMultipartForm(bytes: Buffer, contentType: string): Promise<Pair[]> {
  return new Promise((resolve, reject) => {
    const pairs: Pair[] = []
    const problems = new Problems()
    const fail = () => settle(() => reject(malformed('the body is no multipart form as it should be')))
    const timer = setTimeout(fail, LONGEST_MS)
    let settled = false
    const settle = (how: () => void) => {
      clearTimeout(timer)
      settled = true
      how()
    }
    const parser = openParser(contentType)
    if (!parser) return fail()
    // Bytes in another encoding are decoded with this character; it may also have been sent.
    const mayHoldReplacement = bytes.includes(REPLACEMENT)
    parser.on('field', (name: string | undefined, value, _nameCut, cut) => {
      if (name === undefined || name === '') problems.note('payload', 'every part must have a name')
      else if (cut || !isText(value) || !isText(name) || (value.includes(REPLACEMENT) && !mayHoldReplacement))
        problems.note(fieldPath([name]), 'must be well-formed UTF-8 without NUL')
      else pairs.push([name, value])
    })
    parser.on('file', (name: string | undefined, stream) => {
      stream.on('error', fail).resume()
      problems.note(fieldPath([name ?? 'payload']), 'must be text, not a file')
    })
    parser.on('partsLimit', () => settle(() => reject(badField('payload', `must not have more than ${MOST_FIELDS} fields`))))
    parser.on('error', fail)
    parser.on('finish', () => settle(() => (problems.found.length > 0 ? reject(invalid(problems.found)) : resolve(pairs))))
    const feed = (from: number) => {
      if (settled) return
      timer.refresh()
      const until = from + SLICE
      if (until < bytes.length) parser.write(bytes.subarray(from, until), () => setImmediate(feed, until))
      else parser.end(bytes.subarray(from))
    }
    feed(0)
  })
}

function openParser(contentType: string) {
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      limits: { parts: MOST_FIELDS, headerPairs: 20, headerSize: 8 * 1024 },
    })
  } catch {
    // There is no boundary.
    return undefined
  }
}

function isText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}
