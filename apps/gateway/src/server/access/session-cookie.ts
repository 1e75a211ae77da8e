const NAME = 'vitascope-session'

/** Returns the value of the session cookie in a `Cookie` header, or undefined if it has none. */
export function readSessionCookie(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  for (const pair of header.split(';')) {
    const at = pair.indexOf('=')
    if (pair.slice(0, at).trim() === NAME) return pair.slice(at + 1).trim()
  }
  return undefined
}

/** Returns the `Set-Cookie` header of a session. Scripts cannot read the cookie, and other sites do not send it with writes. */
export function createSessionCookie(value: string, expireTime: Date, publicUrl: string): string {
  return `${NAME}=${value}; Expires=${expireTime.toUTCString()}${attributes(publicUrl)}`
}

/** Returns the `Set-Cookie` header that deletes the cookie. */
export function clearSessionCookie(publicUrl: string): string {
  return `${NAME}=; Max-Age=0${attributes(publicUrl)}`
}

function attributes(publicUrl: string): string {
  return `; Path=/; HttpOnly; SameSite=Lax${publicUrl.startsWith('https:') ? '; Secure' : ''}`
}
