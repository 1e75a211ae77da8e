import type { VideoResult } from './page-state.ts'

/**
 * Facts about the video or playlist that the server wrote into the page; empty if the server did
 * not know.
 */
export interface PageFacts {
  shows: 'video' | 'playlist' | 'none' | ''
  /** Response that a request for the video would get, if the video is not available. */
  missing: VideoResult | undefined
}

/**
 * Reads `<meta name="vitascope:shows" content="video" />`. For an expired video,
 * `vitascope:expired` has the message for viewers.
 */
export function readPageFacts(page: ParentNode): PageFacts {
  const metaContent = (name: string) => page.querySelector(`meta[name="vitascope:${name}"]`)?.getAttribute('content') ?? undefined
  const shows = (['video', 'playlist', 'none'] as const).find((kind) => kind === metaContent('shows')) ?? ''
  const message = metaContent('expired')
  const missing = { status: 404, code: message === undefined ? '' : 'video_expired', detail: message ?? '' }
  return { shows, missing: shows === 'none' ? missing : undefined }
}
