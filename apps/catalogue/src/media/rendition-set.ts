/** One progressive MP4. Paths are relative to the set's prefix. */
export interface Rendition {
  key: string
  path: string
  width: number
  height: number
  bytes: number
  bitrate: number
}

/** Everything that one job made of one source: a plain JSON value. Its objects never change. */
export interface RenditionSet {
  jobId: string
  prefix: string
  durationSeconds: number
  width: number
  height: number
  renditions: Rendition[]
  hlsPath: string
  posterPath: string
  thumbnailPath: string
  thumbnails: { percent: number; path: string }[]
  bytes: number
  hasVideo: boolean
  hasAudio: boolean
}

/** The names of its files, without folders. */
export function fileNames(set: RenditionSet | undefined): string[] {
  return (set?.renditions ?? []).map(({ path }) => path.slice(path.lastIndexOf('/') + 1))
}
