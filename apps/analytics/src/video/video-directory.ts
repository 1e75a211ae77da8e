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
  video: Video
  freshUntil: number
}

/** What was learned of ids just now; undefined: there is none. */
type Learned = Map<string, Video | undefined>

const FRESH_MS = 30_000
/** A video without duration, or that does not exist, may have one, or exist, in the next moment. */
const UNSETTLED_MS = 1_000
const ASK_MS = 1_500
const MOST_ASKED = 1_000
const MOST_KEPT = 200_000
/** Ids that nobody has, which anybody may make up. */
const MOST_GONE = 20_000
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
  /** Ids of no video, and until when that holds: apart, so that they push no video out. */
  const gone = new Map<string, number>()
  const asking = new Map<string, Promise<Learned>>()
  const unsaved = new Map<string, Video>()
  let awayUntil = 0

  const remember = (video: Video, freshUntil: number) => {
    gone.delete(video.videoId)
    putLast(kept, MOST_KEPT, video.videoId, { video, freshUntil })
  }
  const rememberGone = (videoId: string) => {
    kept.delete(videoId)
    putLast(gone, MOST_GONE, videoId, now() + UNSETTLED_MS)
  }
  const ask = async (videoIds: readonly string[], withTexts: boolean) => {
    const call = { ...serviceCall('analytics', ''), deadline: new Date(now() + ASK_MS) }
    const { facts } = await catalogue.listVideoFacts({ videoIds: [...videoIds], withTexts }, call)
    return facts.map(({ videoId, organisationId, durationSeconds, texts }) => ({
      ...{ videoId, organisationId, texts },
      durationMs: Math.round((durationSeconds ?? 0) * 1000),
    }))
  }
  const learn = async (videoIds: readonly string[]): Promise<Learned> => {
    const facts = new Map((await ask(videoIds, false)).map((fact) => [fact.videoId, fact]))
    const learned: Learned = new Map()
    for (const videoId of videoIds) {
      const fact = facts.get(videoId)
      const before = kept.get(videoId)?.video
      // What played once has a length, whatever is done to it now.
      const video = fact && { videoId, organisationId: fact.organisationId, durationMs: fact.durationMs || (before?.durationMs ?? 0) }
      learned.set(videoId, video)
      if (video && (before?.durationMs !== video.durationMs || before.organisationId !== video.organisationId)) unsaved.set(videoId, video)
      if (video) remember(video, now() + (video.durationMs > 0 ? FRESH_MS : UNSETTLED_MS))
      else rememberGone(videoId)
    }
    return learned
  }
  /** What of them had to be asked for. */
  const refresh = async (videoIds: readonly string[]): Promise<Learned> => {
    const stale = videoIds.filter((id) => isId(id) && (kept.get(id)?.freshUntil ?? gone.get(id) ?? 0) <= now())
    if (now() < awayUntil && stale.every((id) => kept.has(id))) return new Map()
    const fresh = stale.filter((id) => !asking.has(id))
    for (let at = 0; at < fresh.length; at += MOST_ASKED) {
      const some = fresh.slice(at, at + MOST_ASKED)
      const run = learn(some).finally(() => {
        for (const id of some) asking.delete(id)
      })
      for (const id of some) asking.set(id, run)
    }
    const answers = await Promise.all(stale.map((id) => asking.get(id)))
    return new Map(stale.map((id, nth) => [id, answers[nth]?.get(id)]))
  }
  /** Adds those that are missing, from memory however old, then from the database. */
  const recall = async (videoIds: readonly string[], found: Map<string, Video>, cause: unknown) => {
    for (const [id, video] of known(videoIds)) found.set(id, video)
    const missing = videoIds.filter((id) => isId(id) && !found.has(id))
    const stored = missing.length === 0 ? [] : await store.find(missing).catch(() => [])
    for (const video of stored) {
      remember(video, 0)
      found.set(video.videoId, video)
    }
    if (stored.length < missing.length) {
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
    // Before the wait: what others learn meanwhile may push it out.
    const found = known(videoIds)
    try {
      for (const [id, video] of await refresh(videoIds)) {
        if (video) found.set(id, video)
        else found.delete(id)
      }
    } catch (error) {
      if (!isDomainError(error)) throw error
      awayUntil = now() + AWAY_MS
      await recall(videoIds, found, error)
    }
    return found
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

/** As the newest; beyond `most`, the one that was put there longest ago goes. A Map keeps the order. */
function putLast<Value>(into: Map<string, Value>, most: number, key: string, value: Value): void {
  into.delete(key)
  into.set(key, value)
  for (const oldest of into.keys()) {
    if (into.size <= most) break
    into.delete(oldest)
  }
}
