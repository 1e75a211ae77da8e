/** One progressive MP4. Paths are relative to the set's prefix. */
export interface Rendition {
  key: string
  path: string
  width: number
  height: number
  bytes: number
  bitrate: number
}

/** All files that one job made from one source, as a plain JSON value. The objects of a set are immutable. */
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
  /** Empty if there is none, as in sets of earlier releases. The same applies to the two paths below. */
  storyboardPath: string
  previewPath: string
  soundPath: string
  /** The plan of the job that made the set; 0 or absent means the first. Files of different plans are incompatible. */
  planNumber: number
}

/** A set as stored, possibly by an earlier release with fewer fields. */
export type StoredSet = Omit<RenditionSet, 'storyboardPath' | 'previewPath' | 'soundPath' | 'planNumber'> & Partial<RenditionSet>

export function readSet(stored: StoredSet | null): RenditionSet | undefined {
  return stored ? { storyboardPath: '', previewPath: '', soundPath: '', planNumber: 1, ...stored } : undefined
}

/**
 * Returns whether two sets come from the same plan. Playback of one can then continue with the
 * other at the same URLs.
 */
export function areCompatible(one: Pick<RenditionSet, 'jobId' | 'planNumber'>, other: Pick<RenditionSet, 'jobId' | 'planNumber'>): boolean {
  return one.jobId === other.jobId && (one.planNumber || 1) === (other.planNumber || 1)
}

/** Returns the file names of a set, without folders. */
export function fileNames(set: RenditionSet | undefined): string[] {
  return (set?.renditions ?? []).map(({ path }) => path.slice(path.lastIndexOf('/') + 1))
}
