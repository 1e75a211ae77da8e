import { isDomainError, notFound } from '@vitascope/errors'
import type { Principal } from '@vitascope/grpc'
import { getScope } from '@vitascope/principal'
import { isId } from '@vitascope/request'
import { toPublicView, type Video } from './video.ts'
import type { VideoStore } from './video-store.ts'
import type { VideoTokens } from './video-token.ts'

/**
 * Returns the full video to its own organisation and to system users, and the public view to all
 * other callers. Throws `not_found` if they must not see the video. A token of the video shows a private one.
 */
export async function requireVisibleVideo(
  { videos, tokens }: { videos: VideoStore; tokens: Pick<VideoTokens, 'isValid'> },
  principal: Principal,
  { videoId, token = '' }: { videoId: string; token?: string },
  signal?: AbortSignal,
): Promise<Video> {
  const video = isId(videoId) ? await videos.find(null, videoId, signal) : undefined
  if (!video) throw notFound('video', videoId)
  const scope = principal.kind === 'user' ? getScope(principal) : undefined
  if (scope === null || scope === video.organisationId) return video
  return toGuestView(video, token, tokens)
}

/** Returns the public view of a video for the holder of a token. Throws `not_found` if guests with this token must not see it. */
export async function toGuestView(video: Video, token: string, tokens: Pick<VideoTokens, 'isValid'>): Promise<Video> {
  const hasToken = video.visibility === 'private' && (await tokens.isValid(token, video.videoId))
  return toPublicView(video, new Date(), { hasToken })
}

/**
 * Throws VIDEO_NOT_FOUND if the organisation has no video with this id that guests may see. The error
 * does not contain the expiry message of an expired video.
 */
export async function requirePublicVideo(videos: VideoStore, organisationId: string, videoId: string, signal: AbortSignal): Promise<void> {
  const video = await videos.find(organisationId, videoId, signal)
  if (!video) throw notFound('video', videoId)
  try {
    toPublicView(video, new Date())
  } catch (error) {
    throw isDomainError(error) ? notFound('video', videoId) : error
  }
}
