/** The text form of COPY: columns apart by tabs, a row a line. */
export const NULL = '\\N'

/** A text with COPY's own marks escaped; nearly none has one. */
export function copyText(text: string): string {
  if (!MARKS.test(text)) return text
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t')
}

const MARKS = /[\\\n\r\t]/

/** Of a `bytea`. Most are few bytes, and copying these is cheaper than looking at them as a buffer. */
export function copyBytes(bytes: Uint8Array): string {
  return `\\\\x${Buffer.from(bytes).toString('hex')}`
}

/** Parts of a size that a connection is handed at once, so that it begins to send while the rest is made. */
export async function* inParts(lines: Iterable<string>): AsyncGenerator<string> {
  let part = ''
  for (const line of lines) {
    part += line
    if (part.length < PART) continue
    yield part
    part = ''
  }
  if (part !== '') yield part
}

const PART = 128 * 1024
