import { isUtf8 } from 'node:buffer'

/** Decodes text by its byte order mark. Without one, valid UTF-8 is decoded as UTF-8, and other text as Windows-1252, in which any bytes are valid. */
export function decodeText(bytes: Uint8Array): string {
  // TextDecoder removes the byte order mark.
  return new TextDecoder(detectCharset(bytes)).decode(bytes)
}

function detectCharset(bytes: Uint8Array): string {
  const [first, second, third] = bytes
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8'
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  return isUtf8(bytes) ? 'utf-8' : 'windows-1252'
}

/** Returns the text with `\n` as its only line end, without a byte order mark, and with U+FFFD for NUL and lone surrogates. */
export function normalizeText(text: string): string {
  const content = text.startsWith('\ufeff') ? text.slice(1) : text
  return (content.includes('\r') || content.includes('\0') ? replaceCharacters(content) : content).toWellFormed()
}

/** Replaces line ends and NUL in one pass over the code units. A regular expression costs about 150 ns per match, and 5 MiB may consist of matches. */
function replaceCharacters(text: string): string {
  const bytes = Buffer.alloc(2 * text.length)
  bytes.write(text, 'utf16le')
  const units = new Uint16Array(bytes.buffer, bytes.byteOffset, text.length)
  let length = 0
  for (let at = 0; at < units.length; at++) {
    const unit = units[at] ?? 0
    if (unit === 10 && at > 0 && text.charCodeAt(at - 1) === 13) continue
    units[length++] = unit === 13 ? 10 : unit === 0 ? 0xfffd : unit
  }
  return bytes.toString('utf16le', 0, 2 * length)
}
