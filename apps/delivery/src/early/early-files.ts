import { randomUUID } from 'node:crypto'
import { notFound } from '@vitascope/errors'
import { type Client, serviceCall } from '@vitascope/grpc'
import type { EarlyServiceService, GetEarlyTrackResponse } from '@vitascope/proto/encoding/v1/early'
import { LRUCache } from 'lru-cache'

/** The files of a set that is still being made, by their names in the finished one. Refuses with EARLY_NOT_FOUND. */
export interface EarlyFiles {
  /** A playlist as it is now. */
  playlist(jobId: string, file: string): Promise<string>
  /** The object in which the bytes of another file are. */
  objectOf(jobId: string, file: string): Promise<string>
}

/** The job whose files lie below a prefix of the catalogue's; undefined for a finished set. */
export function earlyJob(prefix: string): string | undefined {
  return /^early\/([1-9]\d{0,18})$/.exec(prefix)?.[1]
}

/** A playlist is looked at again after this time; segments have four seconds. */
const FRESH_MS = 1_000
const TRACKS = 2_000
const FILE =
  /^hls\/(?:(?<master>master\.m3u8)|(?<key>[a-z0-9_]{1,64})\/(?:(?<list>index\.m3u8)|(?<init>init\.mp4)|seg-(?<number>\d{5,8})\.m4s))$/

/** Asks encoding once a second at most for a track, for all its viewers. */
export function createEarlyFiles(early: Client<typeof EarlyServiceService>): EarlyFiles {
  const masters = new LRUCache<string, Promise<string>>({ max: TRACKS, ttl: FRESH_MS })
  const tracks = new LRUCache<string, Promise<GetEarlyTrackResponse>>({ max: TRACKS, ttl: FRESH_MS })

  const masterOf = (jobId: string) =>
    asked(masters, jobId, () => early.getEarlyMaster({ jobId }, serviceCall('delivery', randomUUID())).then(({ text }) => text))
  const trackOf = (jobId: string, key: string) =>
    asked(tracks, `${jobId} ${key}`, () => early.getEarlyTrack({ jobId, key }, serviceCall('delivery', randomUUID())))

  return {
    async playlist(jobId, file) {
      const { master, key, list } = partsOf(file)
      if (master) return masterOf(jobId)
      if (key && list) return (await trackOf(jobId, key)).playlist
      throw notFound('object', file)
    },
    async objectOf(jobId, file) {
      const { key, init, number } = partsOf(file)
      if (key && init) return (await trackOf(jobId, key)).initObject
      const folder = key && number && (await trackOf(jobId, key)).segments.findLast(({ first }) => first <= Number(number))?.folder
      if (!folder) throw notFound('object', file)
      return `${folder}/seg-${number}.m4s`
    },
  }
}

/** One question for all who ask at the same time; a refusal is not kept. */
async function asked<T>(kept: LRUCache<string, Promise<T>>, name: string, ask: () => Promise<T>): Promise<T> {
  const known = kept.get(name)
  if (known) return known
  const answer = ask()
  kept.set(name, answer)
  answer.catch(() => kept.delete(name))
  return answer
}

function partsOf(file: string): Partial<Record<'master' | 'key' | 'list' | 'init' | 'number', string>> {
  return FILE.exec(file)?.groups ?? {}
}
