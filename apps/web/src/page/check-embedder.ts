import { pause } from '../recovery/pause.ts'
import type { VideoResult } from '../video/page-state.ts'
import { readPageFacts } from './page-facts.ts'

/**
 * Header with the URL of the page that embeds this one. The server decides by it instead of
 * `Referer`.
 */
const EMBEDDER = 'X-Vitascope-Embedder'
const TIMEOUT_MS = 10_000
const RETRY_DELAY_MS = 2_000

/**
 * Checks whether the page that embeds this one may show another video: requests the player page of
 * that video with the URL of the embedding page. Returns the result if the rules of the video do
 * not allow it or if there is no such video, otherwise undefined. The request is repeated until the
 * server has decided, because the server sends the files of the video without this check. Calls `onWaiting` before each
 * repetition.
 */
export async function checkEmbedder(
  videoId: string,
  token: string | undefined,
  embedder: string,
  signal: AbortSignal,
  onWaiting: () => void,
): Promise<VideoResult | undefined> {
  const query = token === undefined ? '' : `?${new URLSearchParams({ token })}`
  while (!signal.aborted) {
    try {
      const response = await fetch(`/player/${encodeURIComponent(videoId)}${query}`, {
        headers: { [EMBEDDER]: embedder },
        cache: 'no-store',
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      })
      const facts = readPageFacts(new DOMParser().parseFromString(await response.text(), 'text/html'))
      if (facts.pageKind !== '') return facts.missingResult
      if (await isHiddenFromGuests(videoId, signal)) return undefined
    } catch {
      // The server cannot be reached.
    }
    if (!signal.aborted) onWaiting()
    await pause(RETRY_DELAY_MS, signal)
  }
  return undefined
}

/**
 * Returns whether guests do not see the video. The page of such a video has no facts if the viewer
 * has a token or a session, and the server shows it to every page.
 */
async function isHiddenFromGuests(videoId: string, signal: AbortSignal): Promise<boolean> {
  const response = await fetch(`/v2/video/${encodeURIComponent(videoId)}`, {
    credentials: 'omit',
    cache: 'no-store',
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
  })
  await response.body?.cancel()
  return response.status === 404
}
