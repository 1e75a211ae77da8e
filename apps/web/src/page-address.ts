/** What the address of the page says: `/player/{id}?token=…&autoplay=1&muted=1&presentation=1`. */
export interface PageAddress {
  videoId: string
  token: string | undefined
  autoplay: boolean
  muted: boolean
  /** Shows the slides of the video's presentation beside it. */
  presentation: boolean
}

export function readPageAddress(href: string): PageAddress {
  const { pathname, searchParams } = new URL(href)
  return {
    videoId: decoded(/^\/player\/([^/]+)\/?$/.exec(pathname)?.[1] ?? ''),
    token: searchParams.get('token') || undefined,
    autoplay: isOn(searchParams.get('autoplay')),
    muted: isOn(searchParams.get('muted')),
    presentation: isOn(searchParams.get('presentation')),
  }
}

/** The address of media with the token in it; delivery moves it into the path, from where playlists pass it on. */
export function withToken(address: string, token: string | undefined, page: string): string {
  if (address === '' || token === undefined) return address
  const url = new URL(address, page)
  url.searchParams.set('token', token)
  return url.href
}

function isOn(value: string | null): boolean {
  return value === '' || value === '1' || value === 'true'
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // No id has such characters: the server says that there is no such video.
    return text
  }
}
