import { randomUUID } from 'node:crypto'
import { createLoadingCache } from '@vitascope/concurrency'
import { notFound } from '@vitascope/errors'
import { type Client, serviceCall } from '@vitascope/grpc'
import type { GetPreviewTrackPlaylistResponse, PreviewPlaylistServiceService } from '@vitascope/proto/encoding/v1/preview_playlist'

/** The files of a set in progress, by their names in the finished set. Methods throw PREVIEW_NOT_FOUND or OBJECT_NOT_FOUND. */
export interface PreviewFiles {
  /** Returns the current text of a playlist. */
  getPlaylist(jobId: string, file: string): Promise<string>
  /** Returns the name of the object that contains a segment or an initialisation file. */
  getObjectName(jobId: string, file: string): Promise<string>
}

/** Returns the id of the job from the prefix of a set in progress, or undefined for the prefix of a finished set. */
export function parsePreviewJobId(prefix: string): string | undefined {
  return /^preview\/([1-9]\d{0,18})$/.exec(prefix)?.[1]
}

/** Time for which the responses of encoding are cached. Segments last four seconds. */
const CACHE_TTL_MS = 1_000
/** Maximum age of a playlist without the requested segment: the player may have the playlist of another replica, which is newer. */
const RECENT_MS = 50
const MAX_TRACKS = 2_000
const FILE =
  /^hls\/(?:(?<master>master\.m3u8)|(?<key>[a-z0-9_]{1,64})\/(?:(?<list>index\.m3u8)|(?<init>init\.mp4)|seg-(?<number>\d{5,8})\.m4s))$/

/**
 * Creates the preview files. Encoding is called at most once per second and playlist, for all viewers, and in addition for
 * segments that the cached playlist does not have.
 */
export function createPreviewFiles(preview: Client<typeof PreviewPlaylistServiceService>): PreviewFiles {
  const masters = createLoadingCache<string>({ max: MAX_TRACKS, ttlMs: () => CACHE_TTL_MS })
  const tracks = createLoadingCache<GetPreviewTrackPlaylistResponse>({ max: MAX_TRACKS, ttlMs: () => CACHE_TTL_MS })

  const loadMaster = (jobId: string) =>
    masters.get(jobId, async () => (await preview.getPreviewMasterPlaylist({ jobId }, serviceCall('delivery', randomUUID()))).text)
  const fetchTrack = (jobId: string, key: string) => preview.getPreviewTrackPlaylist({ jobId, key }, serviceCall('delivery', randomUUID()))
  const loadTrack = (jobId: string, key: string) => tracks.get(`${jobId} ${key}`, () => fetchTrack(jobId, key))
  const loadTrackOfSegment = async (jobId: string, key: string, name: string) => {
    const track = await loadTrack(jobId, key)
    const ageMs = tracks.last(`${jobId} ${key}`)?.ageMs ?? 0
    if (track.playlist.includes(name) || ageMs <= RECENT_MS) return track
    return await tracks.reload(`${jobId} ${key}`, () => fetchTrack(jobId, key))
  }

  return {
    async getPlaylist(jobId, file) {
      const { master, key, list } = parseFileName(file)
      if (master) return loadMaster(jobId)
      if (key && list) return (await loadTrack(jobId, key)).playlist
      throw notFound('object', file)
    },
    async getObjectName(jobId, file) {
      const { key, init, number } = parseFileName(file)
      if (key && init) return (await loadTrack(jobId, key)).initObject
      if (!key || !number) throw notFound('object', file)
      const name = `seg-${number}.m4s`
      const { segments } = await loadTrackOfSegment(jobId, key, name)
      const folder = segments.findLast(({ first }) => first <= Number(number))?.folder
      if (!folder) throw notFound('object', file)
      return `${folder}/${name}`
    },
  }
}

function parseFileName(file: string): Partial<Record<'master' | 'key' | 'list' | 'init' | 'number', string>> {
  return FILE.exec(file)?.groups ?? {}
}
