/** NULL in the text format of COPY. The format separates columns by tabs and rows by line feeds. */
export const NULL = '\\N'

/** Escapes the special characters of COPY's text format. Most texts have none, and are returned unchanged after one search. */
export function copyText(text: string): string {
  if (!SPECIAL_CHARACTERS.test(text)) return text
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t')
}

const SPECIAL_CHARACTERS = /[\\\n\r\t]/

/**
 * Returns a `bytea` in COPY's text format. Most values have few bytes, so copying them is cheaper
 * than creating a Buffer view.
 */
export function copyBytes(bytes: Uint8Array): string {
  return `\\\\x${Buffer.from(bytes).toString('hex')}`
}

/** Yields the lines in chunks of about 128 Ki characters, so that sending starts while the rest is generated. */
export async function* inChunks(lines: Iterable<string>): AsyncGenerator<string> {
  let chunk = ''
  for (const line of lines) {
    chunk += line
    if (chunk.length < CHUNK_LENGTH) continue
    yield chunk
    chunk = ''
  }
  if (chunk !== '') yield chunk
}

const CHUNK_LENGTH = 128 * 1024
