import { isDomainError } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import type { Video } from '@vitascope/proto/catalogue/v1/video'
import type { Response } from 'express'
import { exchangeOf, hangUpSignal } from '../http/exchange.ts'
import { addressGroup } from '../limits/limiter.ts'
import type { LoadShed } from '../limits/load-shed.ts'
import type { Services } from '../services.ts'
import { videoUriView } from '../video/video-uri.ts'
import type { PageFacts, Shared } from './share-tags.ts'

/** A page is not kept waiting for what only other sites read. */
const PATIENCE_MS = 1_000

export interface SharedParts {
  services: Services
  shed: LoadShed
  publicUrl: () => string
}

/**
 * What an address leads to, and what other sites may show of it: only what guests see. Undefined where nobody could be asked. A read or
 * two of the catalogue for each player page that is opened, as the player itself makes one.
 */
export async function findShared(id: string, parts: SharedParts, response: Response): Promise<PageFacts | undefined> {
  // Nothing else is an id.
  if (!/^\d{1,19}$/.test(id)) return { shows: 'none' }
  const call = {
    principal: { kind: 'guest' as const },
    requestId: exchangeOf(response).requestId,
    signal: hangUpSignal(response),
    deadline: new Date(Date.now() + PATIENCE_MS),
  }
  try {
    response.once('close', parts.shed.begin('read', addressGroup(exchangeOf(response).address)).end)
    return await askShared(id, parts.services, parts.publicUrl(), call)
  } catch (error) {
    if (!isDomainError(error)) throw error
    if (error.reason === 'VIDEO_EXPIRED') return { shows: 'none', expired: error.message }
    return error.kind === 'not_found' ? { shows: 'none' } : undefined
  }
}

async function askShared(id: string, services: Services, publicUrl: string, call: Call): Promise<PageFacts | undefined> {
  try {
    const { video } = await services.videos.findPublicVideo({ videoId: id }, call)
    return video && { shows: 'video', shared: await sharedVideo(video, services, publicUrl, call) }
  } catch (error) {
    if (!isDomainError(error) || error.reason !== 'VIDEO_NOT_FOUND') throw error
  }
  const { playlist, videos } = await services.playlists.findPublicPlaylist({ playlistId: id, skip: 0 }, call)
  const [first] = videos
  const picture = first ? await sharedVideo(first, services, publicUrl, call) : nothingYet
  const { title, description } = playlist ?? { title: '', description: '' }
  return playlist && { shows: 'playlist', shared: { ...picture, id, title, description, playsInPlace: false } }
}

const nothingYet = { language: '', image: '', width: 1280, height: 720 }

async function sharedVideo(video: Video, services: Services, publicUrl: string, call: Call): Promise<Shared> {
  const closed = video.tokenRequired || video.ipRestricted || (await hasPassword(video, services, call))
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

async function hasPassword({ videoId }: Video, services: Services, call: Call): Promise<boolean> {
  const { setting } = await services.settings.findVideoSetting({ videoId }, call)
  return setting?.passwordProtected ?? false
}
