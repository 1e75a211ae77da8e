/** NULL in the text format of COPY. The format separates columns by tabs and rows by line feeds. */
export const NULL = '\\N'

/** Escapes the special characters of COPY's text format. Most texts have none and are returned unchanged. */
export function escapeCopyText(text: string): string {
  if (!SPECIAL_CHARACTERS.test(text)) return text
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t')
}

const SPECIAL_CHARACTERS = /[\\\n\r\t]/

/**
 * Returns a `bytea` in COPY's text format. Copying the few bytes of a value is cheaper than creating
 * a Buffer view.
 */
export function formatCopyBytes(bytes: Uint8Array): string {
  return `\\\\x${Buffer.from(bytes).toString('hex')}`
}

/** Yields the lines in chunks of about 128 Ki characters, so that the first are sent while later ones are generated. */
export async function* joinInChunks(lines: Iterable<string>): AsyncGenerator<string> {
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
