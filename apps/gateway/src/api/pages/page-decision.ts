import { isDomainError } from '@vitascope/errors'
import { isUnimplemented } from '@vitascope/grpc'
import type { Request, Response } from 'express'
import type { Services } from '../../clients/services.ts'
import { requestContext } from '../../server/http/request-context.ts'

/** Deadline of the decision, because the page should not wait. */
const TIMEOUT_MS = 1_000
const MAX_TOKEN_LENGTH = 2_048

export interface PageDecision {
  allowed: boolean
  /** Text for viewers of a denied page. Empty if there is none. */
  message: string
  /** Sources of the CSP directive `frame-ancestors`. */
  frameAncestors: string
}

export const ALLOWED: PageDecision = { allowed: true, message: '', frameAncestors: '*' }

/** What a player page shows. */
export interface ShownContent {
  kind: 'video' | 'playlist'
  id: string
}

/**
 * Returns a function that decides by the playback rules of a video, or of all videos of a playlist, whether its player
 * page may be shown. While the catalogue is unavailable the page is shown, and its script requests the video again later.
 */
export function createPageDecider({
  services,
}: {
  services: Services
}): (content: ShownContent, request: Request, response: Response) => Promise<PageDecision> {
  return async ({ kind, id }, request, response) => {
    const { address, requestId } = requestContext(response)
    const call = {
      principal: { kind: 'guest' as const },
      requestId,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      deadline: new Date(Date.now() + TIMEOUT_MS),
    }
    const viewer = { address, referrer: readEmbedder(request) }
    try {
      if (kind === 'playlist') return await services.playbackRules.decidePlaylistPage({ playlistId: id, ...viewer }, call)
      const token = readToken(request.originalUrl)
      const page = { videoId: id, ...viewer, token: token.length <= MAX_TOKEN_LENGTH ? token : '' }
      return await services.playbackRules.decidePage(page, call)
    } catch (error) {
      // Also a catalogue of an older release, which has no rules.
      if (isDomainError(error) || isUnimplemented(error)) return ALLOWED
      throw error
    }
  }
}

/**
 * Returns the URL of the page that embeds the player page. A player page that loads another video sends it in a header,
 * because its own URL would be the `Referer`.
 */
function readEmbedder({ headers }: Request): string {
  const embedder = headers['x-vitascope-embedder']
  return typeof embedder === 'string' ? embedder : (headers.referer ?? '')
}

/** Returns the token in the query of a player page, or an empty text. The app parses no queries. */
export function readToken(path: string): string {
  const at = path.indexOf('?')
  return at === -1 ? '' : (new URLSearchParams(path.slice(at)).get('token') ?? '')
}
