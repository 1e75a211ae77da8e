/** Returns the bytes of Base64 or Base64url, or undefined if the text is neither. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  const plain = text.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '')
  if (!/^[A-Za-z0-9+/]*$/.test(plain) || plain.length % 4 === 1) return undefined
  return Uint8Array.from(atob(plain), (character) => character.charCodeAt(0))
}

/** Returns Base64url without padding (RFC 7515). */
export function toBase64Url(bytes: Uint8Array): string {
  const text = btoa(String.fromCharCode(...bytes))
  return text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}
