/** A file of a rendition or audio track that lies in storage. */
export interface TrackFile {
  chunk: number
  /** Of the chunk that it is of, and its path below it. */
  prefix: string
  path: string
  /** Length, of segments. */
  seconds: number
}

export interface EarlySegment {
  number: number
  name: string
  seconds: number
  folder: string
}

/** What can be watched of a track. */
export interface EarlyTrack {
  initObject: string
  segments: EarlySegment[]
}

const SEGMENT = /^(.*)\/(seg-(\d{5,})\.m4s)$/
const INIT = /\/init\.mp4$/

/** Puts files in order, up to the first gap: a chunk that is done before its neighbour waits for it. Undefined while nothing can be watched. */
export function earlyTrack(files: readonly TrackFile[]): EarlyTrack | undefined {
  const [first] = files.filter(({ path }) => INIT.test(path)).sort((a, b) => a.chunk - b.chunk)
  const found = files.flatMap(({ prefix, path, seconds }): EarlySegment[] => {
    const [, folder, name, number] = SEGMENT.exec(path) ?? []
    return folder && name ? [{ number: Number(number), name, seconds, folder: `${prefix}/${folder}` }] : []
  })
  const segments = found.sort((a, b) => a.number - b.number).filter(({ number }, index) => number === index + 1)
  return first && segments.length > 0 ? { initObject: `${first.prefix}/${first.path}`, segments } : undefined
}

/** The folders of the segments, each with its first number. */
export function segmentFolders(segments: readonly EarlySegment[]): { first: number; folder: string }[] {
  return segments.flatMap(({ number, folder }, index) => (folder === segments[index - 1]?.folder ? [] : [{ first: number, folder }]))
}
