import { createLoadingCache } from '@vitascope/concurrency'
import { DomainError, isDomainError } from '@vitascope/errors'
import { type Client, serviceCall } from '@vitascope/grpc'
import type { VideoSummaryServiceService } from '@vitascope/proto/catalogue/v1/video_summary'
import { isId } from '@vitascope/request'
import type { Logger } from '@vitascope/telemetry'
import type { Video, VideoStore, VideoTexts } from './video-store.ts'

/**
 * Returns data of videos from the catalogue, with a cache of 30 s. While the catalogue is unavailable,
 * it returns the last known data.
 */
export interface VideoDirectory {
  /** Returns the existing videos. Throws `unavailable` if an id cannot be looked up and no older data is known. */
  findExisting(videoIds: readonly string[]): Promise<Map<string, Video>>
  /** Returns existing and deleted videos. Throws like `findExisting`. */
  findIncludingDeleted(videoIds: readonly string[]): Promise<Map<string, Video>>
  /** Returns the texts of at most 100 videos. While the catalogue is unavailable, it returns the last known texts. */
  findTexts(videoIds: readonly string[]): Promise<Map<string, VideoTexts>>
  /** Writes the data that was fetched since the last call to the database. */
  saveUpdates(): Promise<void>
}

const FRESH_TTL_MS = 30_000
/** TTL of videos without a duration and of unknown ids, because both can change soon. */
const INCOMPLETE_TTL_MS = 1_000
const REQUEST_TIMEOUT_MS = 1_500
/** Maximum number of videos per call of the catalogue. */
const MAX_REQUESTED = 1_000
const MAX_CACHED = 200_000
/** Maximum number of cached ids that do not exist. Clients can send any number of them. */
const MAX_MISSING = 20_000
/** After a failure, the catalogue is not called for this time if older data is known. */
const CATALOGUE_PAUSE_MS = 1_000

export function createVideoDirectory(options: {
  catalogue: Pick<Client<typeof VideoSummaryServiceService>, 'listVideoSummaries'>
  store: VideoStore
  log: Logger
  now?: () => number
}): VideoDirectory {
  const { catalogue, store, log, now = Date.now } = options
  const cache = createLoadingCache<Video | undefined>({
    max: MAX_CACHED,
    maxMissing: MAX_MISSING,
    isMissing: (video) => video === undefined,
    ttlMs: (video) => (video !== undefined && video.durationMs > 0 ? FRESH_TTL_MS : INCOMPLETE_TTL_MS),
    now,
  })
  const unsaved = new Map<string, Video>()
  let pausedUntil = 0

  const fetchSummaries = async (videoIds: readonly string[], withTexts: boolean) => {
    const call = { ...serviceCall('analytics', ''), deadline: new Date(now() + REQUEST_TIMEOUT_MS) }
    const { summaries } = await catalogue.listVideoSummaries({ videoIds: [...videoIds], withTexts }, call)
    return summaries.map(({ videoId, organisationId, durationSeconds, texts, languages }) => ({
      ...{ videoId, organisationId, texts, languages },
      durationMs: Math.round((durationSeconds ?? 0) * 1000),
    }))
  }
  /** Fetches videos. The value of an id that does not exist is undefined. */
  const fetchVideos = async (videoIds: readonly string[]): Promise<Map<string, Video | undefined>> => {
    const summaries = new Map((await fetchSummaries(videoIds, false)).map((summary) => [summary.videoId, summary]))
    const videos = new Map<string, Video | undefined>()
    for (const videoId of videoIds) {
      const summary = summaries.get(videoId)
      const lastKnown = cache.last(videoId)?.value
      // A video that was playable before keeps its duration.
      const durationMs = summary?.durationMs || (lastKnown?.durationMs ?? 0)
      const video = summary && { videoId, organisationId: summary.organisationId, durationMs, languages: summary.languages }
      videos.set(videoId, video)
      if (video && (lastKnown?.durationMs !== video.durationMs || lastKnown.organisationId !== video.organisationId))
        unsaved.set(videoId, video)
    }
    return videos
  }
  /** Fetches the videos whose cached data is stale, and returns them. */
  const refreshStale = async (videoIds: readonly string[]): Promise<Map<string, Video | undefined>> => {
    const stale = [...new Set(videoIds)].filter((id) => isId(id) && !cache.last(id)?.isFresh)
    if (now() < pausedUntil && stale.every((id) => cache.last(id)?.value)) return new Map()
    return await cache.getMany(stale, fetchVideos, MAX_REQUESTED)
  }
  /**
   * Adds videos to `videos`: from the cache, also if they are stale, then from the database. Throws
   * `unavailable` if a video is in neither.
   */
  const addLastKnown = async (videoIds: readonly string[], videos: Map<string, Video>, cause: unknown) => {
    for (const [id, video] of findCached(videoIds)) videos.set(id, video)
    const missing = videoIds.filter((id) => isId(id) && !videos.has(id))
    const stored = missing.length === 0 ? [] : await store.find(missing).catch(() => [])
    for (const video of stored) {
      cache.set(video.videoId, video)
      videos.set(video.videoId, video)
    }
    if (stored.length < missing.length) {
      throw new DomainError('unavailable', 'VIDEO_UNCHECKED', 'a video cannot be checked at the moment; try again', {
        retryAfter: 1,
        cause,
      })
    }
  }
  const findCached = (videoIds: readonly string[]) =>
    new Map(
      videoIds.flatMap((id) => {
        const video = cache.last(id)?.value
        return video ? [[id, video]] : []
      }),
    )
  const findExisting = async (videoIds: readonly string[]) => {
    // The cache is read before the await, because concurrent lookups can evict these videos.
    const videos = findCached(videoIds)
    try {
      for (const [id, video] of await refreshStale(videoIds)) {
        if (video) videos.set(id, video)
        else videos.delete(id)
      }
    } catch (error) {
      if (!isDomainError(error)) throw error
      pausedUntil = now() + CATALOGUE_PAUSE_MS
      await addLastKnown(videoIds, videos, error)
    }
    return videos
  }

  return {
    findExisting,
    async findIncludingDeleted(videoIds) {
      const videos = await findExisting(videoIds)
      const deleted = videoIds.filter((id) => isId(id) && !videos.has(id))
      for (const video of deleted.length === 0 ? [] : await store.find(deleted)) videos.set(video.videoId, video)
      return videos
    },
    async findTexts(videoIds) {
      const textsById = await store.findTexts(videoIds)
      try {
        const summaries = await fetchSummaries(videoIds, true)
        await store.save(summaries)
        for (const { videoId, texts } of summaries) if (texts) textsById.set(videoId, texts)
      } catch (error) {
        if (!isDomainError(error)) throw error
        log.warn({ err: error }, 'catalogue unavailable; using cached titles')
      }
      return textsById
    },
    async saveUpdates() {
      const videos = [...unsaved.values()]
      await store.save(videos)
      for (const video of videos) if (unsaved.get(video.videoId) === video) unsaved.delete(video.videoId)
    },
  }
}
