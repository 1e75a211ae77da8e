import { isDomainError } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import type { Video } from '@vitascope/proto/catalogue/v1/video'
import type { Response } from 'express'
import { exchangeOf, hangUpSignal } from '../http/exchange.ts'
import type { LoadShed } from '../limits/load-shed.ts'
import type { Services } from '../services.ts'
import { videoUriView } from '../video/video-uri.ts'
import type { Shared } from './share-tags.ts'

/** A page is not kept waiting for what only other sites read. */
const PATIENCE_MS = 1_000

export interface SharedParts {
  services: Services
  shed: LoadShed
  publicUrl: () => string
}

/**
 * What other sites may show of a video or playlist: only what guests see of it. Undefined where nobody may see anything, or nobody could
 * be asked. One read of the catalogue for each player page that is opened, as the player itself makes one.
 */
export async function findShared(id: string, parts: SharedParts, response: Response): Promise<Shared | undefined> {
  // Nothing else is an id.
  if (!/^\d{1,19}$/.test(id)) return undefined
  const call = {
    principal: { kind: 'guest' as const },
    requestId: exchangeOf(response).requestId,
    signal: hangUpSignal(response),
    deadline: new Date(Date.now() + PATIENCE_MS),
  }
  try {
    response.once('close', parts.shed.begin('read').end)
    return await askShared(id, parts.services, parts.publicUrl(), call)
  } catch (error) {
    if (isDomainError(error)) return undefined
    throw error
  }
}

async function askShared(id: string, services: Services, publicUrl: string, call: Call): Promise<Shared | undefined> {
  try {
    const { video } = await services.videos.findPublicVideo({ videoId: id }, call)
    return video && sharedVideo(video, publicUrl)
  } catch (error) {
    if (!isDomainError(error) || error.reason !== 'VIDEO_NOT_FOUND') throw error
  }
  const { playlist, videos } = await services.playlists.findPublicPlaylist({ playlistId: id, skip: 0 }, call)
  const [first] = videos.map((video) => sharedVideo(video, publicUrl))
  return playlist && { ...(first ?? nothingYet), id, title: playlist.title, description: playlist.description, playsInPlace: false }
}

const nothingYet = { language: '', image: '', width: 1280, height: 720 }

function sharedVideo(video: Video, publicUrl: string): Shared {
  const closed = video.tokenRequired || video.ipRestricted
  return {
    id: video.videoId,
    title: video.title,
    description: video.sharing?.text || video.description,
    language: video.language,
    image: closed ? '' : videoUriView(video, publicUrl).poster_frame,
    width: video.publishedWidth ?? (video.renditions?.width || 1280),
    height: video.publishedHeight ?? (video.renditions?.height || 720),
    playsInPlace: video.sharing?.embedWithinSocial ?? false,
  }
}
