import { Busboy } from '@fastify/busboy'
import { type FieldError, invalid } from '@vitascope/errors'
import { MOST_FIELDS, type Pair } from './percent-form.ts'
import { fieldPath, malformed } from './refusals.ts'

/** All bytes are there when it begins, so a parser that has not ended by then never will. */
const LONGEST_MS = 1_000
const REPLACEMENT = '\ufffd'

/** Reads the fields of a multipart/form-data body; files are refused. */
export function parseMultipartForm(bytes: Buffer, contentType: string): Promise<Pair[]> {
  return new Promise((resolve, reject) => {
    const pairs: Pair[] = []
    const problems: FieldError[] = []
    const fail = () => settle(() => reject(malformed('the body is no multipart form as it should be')))
    const timer = setTimeout(fail, LONGEST_MS)
    const settle = (how: () => void) => {
      clearTimeout(timer)
      how()
    }
    const parser = openParser(contentType)
    if (!parser) return fail()
    // Bytes in another encoding are decoded with this character; it may also have been sent.
    const mayHoldReplacement = bytes.includes(REPLACEMENT)
    parser.on('field', (name: string | undefined, value, _nameCut, cut) => {
      if (name === undefined || name === '') problems.push({ field: 'payload', message: 'every part must have a name' })
      else if (cut || !isText(value) || !isText(name) || (value.includes(REPLACEMENT) && !mayHoldReplacement))
        problems.push({ field: fieldPath([name]), message: 'must be well-formed UTF-8 without NUL' })
      else pairs.push([name, value])
    })
    parser.on('file', (name: string | undefined, stream) => {
      stream.on('error', fail).resume()
      problems.push({ field: fieldPath([name ?? 'payload']), message: 'must be text, not a file' })
    })
    parser.on('partsLimit', () => problems.push({ field: 'payload', message: `must not have more than ${MOST_FIELDS} fields` }))
    parser.on('error', fail)
    parser.on('finish', () => settle(() => (problems.length > 0 ? reject(invalid(problems)) : resolve(pairs))))
    parser.end(bytes)
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
