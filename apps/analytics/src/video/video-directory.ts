import { DomainError, isDomainError } from '@vitascope/errors'
import { type Client, serviceCall } from '@vitascope/grpc'
import { isId } from '@vitascope/postgres'
import type { VideoFactServiceService } from '@vitascope/proto/catalogue/v1/video_fact'
import type { Logger } from '@vitascope/telemetry'
import type { Video, VideoStore, VideoTexts } from './video-store.ts'

/** Knows videos: from memory for 30 s, then from the catalogue, and while that is away from what it said last. */
export interface VideoDirectory {
  /** Those that there are. Refuses as unavailable when one can be asked of nobody. */
  standing(videoIds: readonly string[]): Promise<Map<string, Video>>
  /** Those that there are or were. */
  ever(videoIds: readonly string[]): Promise<Map<string, Video>>
  /** How at most 100 videos are called now, or were last. */
  texts(videoIds: readonly string[]): Promise<Map<string, VideoTexts>>
  /** Puts into the database what could not be put there when it was learned. */
  saveLearned(): Promise<void>
}

interface Entry {
  /** Undefined: there is none. */
  video: Video | undefined
  freshUntil: number
}

const FRESH_MS = 30_000
/** A video without duration, or that does not exist, may have one, or exist, in the next moment. */
const UNSETTLED_MS = 1_000
const ASK_MS = 1_500
const MOST_ASKED = 1_000
const MOST_KEPT = 200_000
/** A catalogue that failed is not asked again so long, where an older answer will do. */
const AWAY_MS = 1_000

export function createVideoDirectory(options: {
  catalogue: Pick<Client<typeof VideoFactServiceService>, 'listVideoFacts'>
  store: VideoStore
  log: Logger
  now?: () => number
}): VideoDirectory {
  const { catalogue, store, log, now = Date.now } = options
  const kept = new Map<string, Entry>()
  const asking = new Map<string, Promise<void>>()
  const unsaved = new Map<string, Video>()
  let awayUntil = 0

  const remember = (videoId: string, video: Video | undefined) => {
    const settled = video !== undefined && video.durationMs > 0
    kept.delete(videoId)
    kept.set(videoId, { video, freshUntil: now() + (settled ? FRESH_MS : UNSETTLED_MS) })
    // The one that was learned longest ago; a Map keeps the order.
    for (const oldest of kept.keys()) {
      if (kept.size <= MOST_KEPT) break
      kept.delete(oldest)
    }
  }
  const ask = async (videoIds: readonly string[], withTexts: boolean) => {
    const call = { ...serviceCall('analytics', ''), deadline: new Date(now() + ASK_MS) }
    const { facts } = await catalogue.listVideoFacts({ videoIds: [...videoIds], withTexts }, call)
    return facts.map(({ videoId, organisationId, durationSeconds, texts }) => ({
      ...{ videoId, organisationId, texts },
      durationMs: Math.round((durationSeconds ?? 0) * 1000),
    }))
  }
  const learn = async (videoIds: readonly string[]) => {
    const facts = new Map((await ask(videoIds, false)).map((fact) => [fact.videoId, fact]))
    for (const videoId of videoIds) {
      const fact = facts.get(videoId)
      const before = kept.get(videoId)?.video
      // What played once has a length, whatever is done to it now.
      const video = fact && { videoId, organisationId: fact.organisationId, durationMs: fact.durationMs || (before?.durationMs ?? 0) }
      if (video && (before?.durationMs !== video.durationMs || before.organisationId !== video.organisationId)) unsaved.set(videoId, video)
      remember(videoId, video)
    }
  }
  const refresh = async (videoIds: readonly string[]) => {
    const stale = videoIds.filter((id) => isId(id) && (kept.get(id)?.freshUntil ?? 0) <= now())
    if (stale.length === 0) return
    if (now() < awayUntil && stale.every((id) => kept.get(id)?.video)) return
    const fresh = stale.filter((id) => !asking.has(id))
    for (let at = 0; at < fresh.length; at += MOST_ASKED) {
      const some = fresh.slice(at, at + MOST_ASKED)
      const run = learn(some).finally(() => {
        for (const id of some) asking.delete(id)
      })
      for (const id of some) asking.set(id, run)
    }
    await Promise.all(new Set(stale.map((id) => asking.get(id))))
  }
  /** From memory however old, then from the database. */
  const recall = async (videoIds: readonly string[], cause: unknown) => {
    const missing = videoIds.filter((id) => isId(id) && !kept.get(id)?.video)
    const found = missing.length === 0 ? [] : await store.find(missing).catch(() => [])
    for (const video of found) kept.set(video.videoId, { video, freshUntil: 0 })
    if (found.length < missing.length) {
      throw new DomainError('unavailable', 'VIDEO_UNCHECKED', 'a video cannot be checked just now: try again', { retryAfter: 1, cause })
    }
  }
  const known = (videoIds: readonly string[]) =>
    new Map(
      videoIds.flatMap((id) => {
        const video = kept.get(id)?.video
        return video ? [[id, video]] : []
      }),
    )
  const standing = async (videoIds: readonly string[]) => {
    try {
      await refresh(videoIds)
    } catch (error) {
      if (!isDomainError(error)) throw error
      awayUntil = now() + AWAY_MS
      await recall(videoIds, error)
    }
    return known(videoIds)
  }

  return {
    standing,
    async ever(videoIds) {
      const found = await standing(videoIds)
      const gone = videoIds.filter((id) => isId(id) && !found.has(id))
      for (const video of gone.length === 0 ? [] : await store.find(gone)) found.set(video.videoId, video)
      return found
    },
    async texts(videoIds) {
      const last = await store.findTexts(videoIds)
      try {
        const facts = await ask(videoIds, true)
        await store.save(facts)
        for (const { videoId, texts } of facts) if (texts) last.set(videoId, texts)
      } catch (error) {
        if (!isDomainError(error)) throw error
        log.warn({ err: error }, 'the catalogue is away: titles are those of before')
      }
      return last
    },
    async saveLearned() {
      const videos = [...unsaved.values()]
      await store.save(videos)
      for (const video of videos) if (unsaved.get(video.videoId) === video) unsaved.delete(video.videoId)
    },
  }
}
