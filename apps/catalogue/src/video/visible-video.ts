import { notFound } from '@vitascope/errors'
import type { Principal } from '@vitascope/grpc'
import { parseId } from '../id/id.ts'
import { scopeOf } from '../visibility.ts'
import { asPublic, type Video } from './video.ts'
import type { VideoStore } from './video-store.ts'

/** The video as the caller may see it: whole to its organisation and the system, to everybody else as to a guest; refuses where that is not. */
export async function needVisibleVideo(videos: VideoStore, principal: Principal, videoId: string, signal?: AbortSignal): Promise<Video> {
  const video = parseId(videoId) ? await videos.find(null, videoId, signal) : undefined
  if (!video) throw notFound('video', videoId)
  const scope = principal.kind === 'user' ? scopeOf(principal) : undefined
  return scope === null || scope === video.organisationId ? video : asPublic(video, new Date())
}
