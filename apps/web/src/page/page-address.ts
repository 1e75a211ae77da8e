/**
 * Parameters in the address of the page: `/player/{id}?token=…&autoplay=1&muted=1&presentation=1`.
 */
export interface PageAddress {
  videoId: string
  token: string | undefined
  autoplay: boolean
  muted: boolean
  /** Shows the slides of the video's presentation next to the video. */
  presentation: boolean
}

export function readPageAddress(href: string): PageAddress {
  const { pathname, searchParams } = new URL(href)
  return {
    videoId: decodeId(/^\/player\/([^/]+)\/?$/.exec(pathname)?.[1] ?? ''),
    token: searchParams.get('token') || undefined,
    autoplay: isEnabled(searchParams.get('autoplay')),
    muted: isEnabled(searchParams.get('muted')),
    presentation: isEnabled(searchParams.get('presentation')),
  }
}

/**
 * Adds the token to a media URL. The delivery service moves it into the path, so that playlists
 * pass it on.
 */
export function withToken(address: string, token: string | undefined, page: string): string {
  if (address === '' || token === undefined) return address
  const url = new URL(address, page)
  url.searchParams.set('token', token)
  return url.href
}

/**
 * Replaces the token in the path of a file, `/delivery/{id}/{version}~{token}/…`. Playlists that were loaded with an
 * earlier token list files with that token.
 */
export function replaceToken(address: string, token: string | undefined): string {
  return token === undefined ? address : address.replace(/(\/delivery\/(?:presentation\/)?\d+\/[a-z0-9]+~)[\w.-]+\//, `$1${token}/`)
}

function isEnabled(value: string | null): boolean {
  return value === '' || value === '1' || value === 'true'
}

function decodeId(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // An id cannot have such characters. The server responds that the video does not exist.
    return text
  }
}
