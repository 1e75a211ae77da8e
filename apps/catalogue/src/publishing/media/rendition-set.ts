/** One progressive MP4. Paths are relative to the set's prefix. */
export interface Rendition {
  key: string
  path: string
  /** Pixels. 0 without a picture. */
  width: number
  height: number
  bytes: number
  /** Average of the complete file in bit/s. */
  bitrate: number
}

/** The files that one job encoded from one source, as a JSON value. The files of a set never change. */
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
  /** This path and the two paths below are empty in sets of earlier releases. */
  storyboardPath: string
  previewPath: string
  soundPath: string
  /** The number of the plan that created the set. 0 means 1. Files of different plans cannot be combined. */
  planNumber: number
}

/** A stored set. Sets of earlier releases have fewer fields. */
export type StoredSet = Omit<RenditionSet, 'storyboardPath' | 'previewPath' | 'soundPath' | 'planNumber'> & Partial<RenditionSet>

export function readSet(stored: StoredSet | null): RenditionSet | undefined {
  return stored ? { storyboardPath: '', previewPath: '', soundPath: '', planNumber: 1, ...stored } : undefined
}

/**
 * Returns whether two sets were created by the same plan. Playback can then continue from one set to the
 * other at the same URLs.
 */
export function areCompatible(a: Pick<RenditionSet, 'jobId' | 'planNumber'>, b: Pick<RenditionSet, 'jobId' | 'planNumber'>): boolean {
  return a.jobId === b.jobId && (a.planNumber || 1) === (b.planNumber || 1)
}

/** Returns the file names of a set, without folders. */
export function listFileNames(set: RenditionSet | undefined): string[] {
  return (set?.renditions ?? []).map(({ path }) => path.slice(path.lastIndexOf('/') + 1))
}
