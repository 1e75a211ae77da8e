import { randomUUID } from 'node:crypto'
import { createLoadingCache } from '@vitascope/concurrency'
import { notFound } from '@vitascope/errors'
import { type Client, serviceCall } from '@vitascope/grpc'
import type { GetPreviewTrackPlaylistResponse, PreviewPlaylistServiceService } from '@vitascope/proto/encoding/v1/preview_playlist'

/** The files of a set in progress, by their names in the finished set. Methods throw PREVIEW_NOT_FOUND or OBJECT_NOT_FOUND. */
export interface PreviewFiles {
  /** Returns the current text of a playlist. */
  playlist(jobId: string, file: string): Promise<string>
  /** Returns the name of the object that contains another file. */
  getObject(jobId: string, file: string): Promise<string>
}

/** Returns the job of a prefix of the catalogue, or undefined for a finished set. */
export function previewJob(prefix: string): string | undefined {
  return /^preview\/([1-9]\d{0,18})$/.exec(prefix)?.[1]
}

/** A playlist is requested again after this time; segments last four seconds. */
const FRESH_MS = 1_000
const MAX_TRACKS = 2_000
const FILE =
  /^hls\/(?:(?<master>master\.m3u8)|(?<key>[a-z0-9_]{1,64})\/(?:(?<list>index\.m3u8)|(?<init>init\.mp4)|seg-(?<number>\d{5,8})\.m4s))$/

/** Creates the preview files. Encoding is called at most once per second and track, for all viewers. */
export function createPreviewFiles(preview: Client<typeof PreviewPlaylistServiceService>): PreviewFiles {
  const masters = createLoadingCache<string>({ max: MAX_TRACKS, ttlMs: () => FRESH_MS })
  const tracks = createLoadingCache<GetPreviewTrackPlaylistResponse>({ max: MAX_TRACKS, ttlMs: () => FRESH_MS })

  const loadMaster = (jobId: string) =>
    masters.get(jobId, async () => (await preview.getPreviewMasterPlaylist({ jobId }, serviceCall('delivery', randomUUID()))).text)
  const loadTrack = (jobId: string, key: string) =>
    tracks.get(`${jobId} ${key}`, () => preview.getPreviewTrackPlaylist({ jobId, key }, serviceCall('delivery', randomUUID())))

  return {
    async playlist(jobId, file) {
      const { master, key, list } = parseFileName(file)
      if (master) return loadMaster(jobId)
      if (key && list) return (await loadTrack(jobId, key)).playlist
      throw notFound('object', file)
    },
    async getObject(jobId, file) {
      const { key, init, number } = parseFileName(file)
      if (key && init) return (await loadTrack(jobId, key)).initObject
      const folder = key && number && (await loadTrack(jobId, key)).segments.findLast(({ first }) => first <= Number(number))?.folder
      if (!folder) throw notFound('object', file)
      return `${folder}/seg-${number}.m4s`
    },
  }
}

function parseFileName(file: string): Partial<Record<'master' | 'key' | 'list' | 'init' | 'number', string>> {
  return FILE.exec(file)?.groups ?? {}
}
