import type { VideoResult } from '../video/page-state.ts'

/**
 * Facts about the video or playlist that the server wrote into the page. Unknown facts are
 * empty.
 */
export interface PageFacts {
  pageKind: 'video' | 'playlist' | 'none' | ''
  /** Response to a request for the video if the video is not available. */
  missingResult: VideoResult | undefined
}

/**
 * Reads `<meta name="vitascope:shows" content="video" />`. For an expired video,
 * `vitascope:expired` has the message for viewers, and `vitascope:denied` for a video whose rules
 * deny this page.
 */
export function readPageFacts(page: ParentNode): PageFacts {
  const readMeta = (name: string) => page.querySelector(`meta[name="vitascope:${name}"]`)?.getAttribute('content') ?? undefined
  const pageKind = (['video', 'playlist', 'none'] as const).find((kind) => kind === readMeta('shows')) ?? ''
  const [expired, denied] = [readMeta('expired'), readMeta('denied')]
  const missingResult =
    denied === undefined
      ? { status: 404, code: expired === undefined ? '' : 'video_expired', detail: expired ?? '' }
      : { status: 403, code: 'rule_refused', detail: denied }
  return { pageKind, missingResult: pageKind === 'none' ? missingResult : undefined }
}
