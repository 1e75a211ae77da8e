import { isUtf8 } from 'node:buffer'

/** By its byte order mark; without one UTF-8 where that is what it is, else Windows-1252, which takes any bytes. */
export function decodeText(bytes: Uint8Array): string {
  // The decoders leave the mark itself out.
  return new TextDecoder(charsetOf(bytes)).decode(bytes)
}

function charsetOf(bytes: Uint8Array): string {
  const [first, second, third] = bytes
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8'
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  return isUtf8(bytes) ? 'utf-8' : 'windows-1252'
}
