import type { VideoAnswer } from './page-state.ts'

/** What the server wrote into the page of what its address leads to; empty where it could not say. */
export interface PageFacts {
  shows: 'video' | 'playlist' | 'none' | ''
  /** The answer that the question for the video would bring, where there is none. */
  missing: VideoAnswer | undefined
}

/** `<meta name="vitascope:shows" content="video" />`; for an expired video `vitascope:expired` has the message for viewers. */
export function readPageFacts(page: ParentNode): PageFacts {
  const said = (name: string) => page.querySelector(`meta[name="vitascope:${name}"]`)?.getAttribute('content') ?? undefined
  const shows = (['video', 'playlist', 'none'] as const).find((kind) => kind === said('shows')) ?? ''
  const message = said('expired')
  const missing = { status: 404, code: message === undefined ? '' : 'video_expired', detail: message ?? '' }
  return { shows, missing: shows === 'none' ? missing : undefined }
}
