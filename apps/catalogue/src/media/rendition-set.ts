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
  /** Empty where there is none, as in sets that were made before there were any; so are the two below. */
  storyboardPath: string
  previewPath: string
  soundPath: string
  /** Which plan of its job it was made by; 0 and none stand for the first. Files of two plans do not fit together. */
  planNumber: number
}

/** A set as it was stored, maybe by a release that knew less. */
export type StoredSet = Omit<RenditionSet, 'storyboardPath' | 'previewPath' | 'soundPath' | 'planNumber'> & Partial<RenditionSet>

export function readSet(stored: StoredSet | null): RenditionSet | undefined {
  return stored ? { storyboardPath: '', previewPath: '', soundPath: '', planNumber: 1, ...stored } : undefined
}

/** Whoever watches one can go on with the other at the same addresses. */
export function fitTogether(one: Pick<RenditionSet, 'jobId' | 'planNumber'>, other: Pick<RenditionSet, 'jobId' | 'planNumber'>): boolean {
  return one.jobId === other.jobId && (one.planNumber || 1) === (other.planNumber || 1)
}

/** The names of its files, without folders. */
export function fileNames(set: RenditionSet | undefined): string[] {
  return (set?.renditions ?? []).map(({ path }) => path.slice(path.lastIndexOf('/') + 1))
}
