/** A stored file of a rendition or an audio track. */
export interface TrackFile {
  chunk: number
  /** Prefix of its chunk, and its path below it. */
  prefix: string
  path: string
  /** Duration, for segments only. */
  seconds: number
}

export interface PreviewSegment {
  number: number
  name: string
  seconds: number
  folder: string
}

/** The playable part of a track. */
export interface PreviewTrack {
  initObject: string
  segments: PreviewSegment[]
}

const SEGMENT = /^(.*)\/(seg-(\d{5,})\.m4s)$/
const INIT = /\/init\.mp4$/

/**
 * Orders the segments of a track up to the first gap, because a chunk that is done early must wait
 * for those before it. Returns undefined while nothing is playable.
 */
export function previewTrack(files: readonly TrackFile[]): PreviewTrack | undefined {
  const [first] = files.filter(({ path }) => INIT.test(path)).sort((a, b) => a.chunk - b.chunk)
  const stored = files.flatMap(({ prefix, path, seconds }): PreviewSegment[] => {
    const [, folder, name, number] = SEGMENT.exec(path) ?? []
    return folder && name ? [{ number: Number(number), name, seconds, folder: `${prefix}/${folder}` }] : []
  })
  const segments = stored.sort((a, b) => a.number - b.number).filter(({ number }, index) => number === index + 1)
  return first && segments.length > 0 ? { initObject: `${first.prefix}/${first.path}`, segments } : undefined
}

/** Returns the folders of the segments, each with its first segment number. */
export function segmentFolders(segments: readonly PreviewSegment[]): { first: number; folder: string }[] {
  return segments.flatMap(({ number, folder }, index) => (folder === segments[index - 1]?.folder ? [] : [{ first: number, folder }]))
}
