import { createLoadingCache } from '@vitascope/concurrency'
import { isDomainError } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import type { PosterImage } from '@vitascope/proto/catalogue/v1/poster_set'
import type { Video } from '@vitascope/proto/catalogue/v1/video'
import type { UnknownIds } from '@vitascope/rate-limit'
import { toWidestNetwork } from '@vitascope/security'
import type { Response } from 'express'
import type { Services } from '../../clients/services.ts'
import { type RequestContext, requestContext } from '../../server/http/request-context.ts'
import type { ConcurrencyLimit } from '../../server/limits/adaptive-concurrency-limit.ts'
import { resolvePicture } from '../embed/find-embedded.ts'
import { videoUriResponse } from '../video/video-uri-response.ts'
import type { PageFacts, SearchData, ShareData, ShareImage } from './share-data.ts'

/**
 * Deadline of the lookup, because only other sites need its result and the page should not wait.
 */
const LOOKUP_TIMEOUT_MS = 1_000
/** How long an unknown id is cached. A video that becomes public is visible after this time. */
const UNKNOWN_TTL_MS = 2_000
const MAX_UNKNOWN = 20_000

export interface FactsDependencies {
  services: Services
  concurrencyLimit: ConcurrencyLimit
  unknownIds: UnknownIds
  publicUrl: () => string
  mediaUrl: () => string
}

/** Finds the public facts of a player page. See `createFactsFinder`. */
export type FactsFinder = (id: string, response: Response) => Promise<PageFacts | undefined>

/**
 * Returns a function that finds the public facts of a player page, as guests may see them. It
 * returns undefined if the catalogue is unavailable, or if the client requested too many unknown
 * ids. An unknown id is cached for 2 s, and concurrent requests for one id share one lookup.
 */
export function createFactsFinder(dependencies: FactsDependencies): FactsFinder {
  const facts = createLoadingCache<PageFacts | undefined>({
    max: MAX_UNKNOWN,
    ttlMs: (page) => (page?.shows === 'none' ? UNKNOWN_TTL_MS : 0),
  })
  return async (id, response) => {
    // Anything else is not an id.
    if (!/^\d{1,19}$/.test(id)) return { shows: 'none' }
    const cached = facts.last(id)
    if (cached?.isFresh) return cached.value
    const { address, requestId } = requestContext(response)
    if ((await dependencies.unknownIds.rejection(address)) !== undefined) return undefined
    const page = await facts.get(id, () => loadFacts(id, { address, requestId }, dependencies))
    if (page?.shows === 'none') await dependencies.unknownIds.count(address)
    return page
  }
}

/** Looks up an id with one to three catalogue reads. */
async function loadFacts(
  id: string,
  caller: Pick<RequestContext, 'address' | 'requestId'>,
  dependencies: FactsDependencies,
): Promise<PageFacts | undefined> {
  const call = {
    principal: { kind: 'guest' as const },
    requestId: caller.requestId,
    // The call has no abort signal of the client, because other requests may share its result.
    signal: new AbortController().signal,
    deadline: new Date(Date.now() + LOOKUP_TIMEOUT_MS),
  }
  try {
    const slot = dependencies.concurrencyLimit.begin('read', toWidestNetwork(caller.address))
    try {
      return await fetchFacts(id, dependencies.services, dependencies.mediaUrl(), call)
    } finally {
      slot.end(false)
    }
  } catch (error) {
    if (!isDomainError(error)) throw error
    if (error.reason === 'VIDEO_EXPIRED') return { shows: 'none', expired: error.message }
    return error.kind === 'not_found' ? { shows: 'none' } : undefined
  }
}

async function fetchFacts(id: string, services: Services, mediaUrl: string, call: Call): Promise<PageFacts | undefined> {
  try {
    const { video } = await services.videos.findPublicVideo({ videoId: id, token: '' }, call)
    return video && { shows: 'video', shared: await loadShareData(video, services, mediaUrl, call) }
  } catch (error) {
    if (!isDomainError(error) || error.reason !== 'VIDEO_NOT_FOUND') throw error
  }
  const { playlist, videos } = await services.playlists.findPublicPlaylist({ playlistId: id, skip: 0 }, call)
  const [first] = videos
  const shown = first ? await loadShareData(first, services, mediaUrl, call) : WITHOUT_VIDEO
  const { title, description } = playlist ?? { title: '', description: '' }
  const ofPlaylist = { id, title, description, isUnlisted: false, canPlayInline: false, requiresCredential: false, search: undefined }
  return playlist && { shows: 'playlist', shared: { ...shown, ...ofPlaylist } }
}

const WITHOUT_VIDEO = { language: '', images: [], ...resolvePicture({}) }

async function loadShareData(video: Video, services: Services, mediaUrl: string, call: Call): Promise<ShareData> {
  const requiresCredential = video.tokenRequired || (await hasPassword(video, services, call))
  const isProtected = requiresCredential || video.ipRestricted
  const isUnlisted = video.visibility === 'unlisted'
  return {
    id: video.videoId,
    title: video.title,
    description: video.sharing?.text || video.description,
    language: video.language,
    images: isProtected ? [] : listImages(video, mediaUrl),
    ...resolvePicture(video),
    isUnlisted,
    canPlayInline: video.sharing?.embedWithinSocial ?? false,
    requiresCredential,
    search: isProtected || isUnlisted ? undefined : searchData(video, mediaUrl),
  }
}

/** Short sides of the poster and of the thumbnail, in pixels. Smaller pictures are not enlarged. */
const POSTER_SHORT_SIDE = 720
const THUMBNAIL_SHORT_SIDE = 240

/** Returns the public stills of a video, the largest first. */
function listImages(video: Video, mediaUrl: string): ShareImage[] {
  const { poster_frame, thumbnail } = videoUriResponse(video, mediaUrl)
  const image = (url: string, shortSide: number, own: PosterImage | undefined) => {
    const { width, height } = own ?? imageSize(video, shortSide)
    return url === '' ? [] : [{ url, width, height }]
  }
  return [
    ...image(poster_frame, POSTER_SHORT_SIDE, video.poster?.poster),
    ...image(thumbnail, THUMBNAIL_SHORT_SIDE, video.poster?.thumbnail),
  ]
}

/**
 * Returns the size of a still of the set. It is that of the encoder: the picture scaled to the short side, with
 * even numbers of pixels.
 */
function imageSize({ renditions }: Video, shortSide: number): { width: number; height: number } {
  const { width, height } = renditions?.width && renditions.height ? renditions : resolvePicture({})
  const scale = Math.min(1, shortSide / Math.min(width, height), (4 * shortSide) / Math.max(width, height))
  const scaled = (pixels: number) => Math.max(2, 2 * (scale === 1 ? Math.floor(pixels / 2) : Math.round((pixels * scale) / 2)))
  return { width: scaled(width), height: scaled(height) }
}

/** Returns undefined until the video has files. */
function searchData(video: Video, mediaUrl: string): SearchData | undefined {
  const { hls, download_link } = videoUriResponse(video, mediaUrl)
  const contentUrl = download_link || hls
  if (contentUrl === '' || !video.createTime) return undefined
  const { createTime: uploadTime, chapters } = video
  return { uploadTime, durationSeconds: video.renditions?.durationSeconds ?? 0, contentUrl, chapters }
}

async function hasPassword({ videoId }: Video, services: Services, call: Call): Promise<boolean> {
  const { setting } = await services.settings.findVideoSetting({ videoId, token: '' }, call)
  return setting?.passwordProtected ?? false
}
