/**
 * Parameters in the address of the page: `/player/{id}?token=…&autoplay=1&start=90#t=1m30s`.
 */
export interface PageAddress {
  videoId: string
  token: string | undefined
  autoplay: boolean
  muted: boolean
  /** Shows the slides of the video's presentation. */
  presentation: boolean
  /** Repeats the video, or the part from `start` to `end`. */
  loop: boolean
  /** Seconds. `#t=` has precedence over `start`. */
  start: number
  /** Seconds. Undefined if the video is played to its end. */
  end: number | undefined
  /** Language of the player's texts, as a language tag. */
  language: string | undefined
  /** Name of the design of the controls. */
  skin: string | null
}

export function readPageAddress(href: string): PageAddress {
  const { pathname, searchParams, hash } = new URL(href)
  const [fragmentStart, fragmentEnd] = readTimeFragment(hash)
  const start = fragmentStart ?? parseTime(searchParams.get('start') ?? searchParams.get('t')) ?? 0
  const end = fragmentEnd ?? parseTime(searchParams.get('end'))
  return {
    videoId: decodeId(/^\/player\/([^/]+)\/?$/.exec(pathname)?.[1] ?? ''),
    token: searchParams.get('token') || undefined,
    autoplay: isEnabled(searchParams.get('autoplay')),
    muted: isEnabled(searchParams.get('muted')),
    presentation: isEnabled(searchParams.get('presentation')),
    loop: isEnabled(searchParams.get('loop')),
    start,
    end: end !== undefined && end > start ? end : undefined,
    language: searchParams.get('lang') || undefined,
    skin: searchParams.get('player'),
  }
}

/** Reads `#t=START,END` (Media Fragments). Either part may be missing. */
export function readTimeFragment(hash: string): [start: number | undefined, end: number | undefined] {
  const [start, end] = (new URLSearchParams(hash.replace(/^#/, '')).get('t') ?? '').replace(/^npt:/, '').split(',')
  return [parseTime(start ?? null), parseTime(end ?? null)]
}

/** Parses `90`, `1:30`, `1h2m3s` or `90s` into seconds. */
function parseTime(value: string | null): number | undefined {
  const text = value?.trim() ?? ''
  if (/^\d+(\.\d+)?s?$/.test(text)) return Number.parseFloat(text)
  const [, hours, minutes, seconds] =
    /^(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)$/.exec(text) ?? /^(?=\d)(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?$/.exec(text) ?? []
  if (hours === undefined && minutes === undefined && seconds === undefined) return undefined
  return Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60 + Number(seconds ?? 0)
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
 * Replaces the token in the path of a file, `/delivery/{id}/{version}~{token}/…`. Playlists that
 * were loaded with an earlier token list files with that token.
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
