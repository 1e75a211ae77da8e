import type { PlaybackKind } from '@vitascope/playback-policy'

const STREAM = '#EXT-X-STREAM-INF:'

/** The heights of the renditions of a video, by the names of their folders and files, such as `h264_1200`. */
export interface RenditionHeights {
  byName: ReadonlyMap<string, number>
  /** Names of the audio-only renditions. */
  audioOnly: ReadonlySet<string>
}

export const NO_HEIGHTS: RenditionHeights = { byName: new Map(), audioOnly: new Set() }

/** Reads the heights from the master playlist. */
export function readHeights(master: string): RenditionHeights {
  const byName = new Map<string, number>()
  const audioOnly = new Set<string>()
  for (const { height, uri } of readVariants(master)) {
    const name = getFolderName(uri)
    if (height === undefined) audioOnly.add(name)
    else byName.set(name, Math.max(height, byName.get(name) ?? 0))
  }
  for (const [, uri = ''] of master.matchAll(/^#EXT-X-MEDIA:TYPE=AUDIO.*,URI="([^"]+)"/gm)) audioOnly.add(getFolderName(uri))
  return { byName, audioOnly }
}

/**
 * Returns the height in pixels of the video in a file. For the master playlist, returns the lowest height in it.
 * Returns undefined for files without video, such as images, captions and audio-only renditions. Returns infinity for
 * an unknown rendition, so that a limit never admits it.
 */
export function findHeight(file: string, kind: PlaybackKind, { byName, audioOnly }: RenditionHeights): number | undefined {
  if (!['manifest', 'segment', 'mp4', 'download'].includes(kind) || file.endsWith('.m4a') || /(^|\/)captions\//.test(file)) return undefined
  if (/(^|\/)master\.m3u8$/.test(file)) return byName.size === 0 ? undefined : Math.min(...byName.values())
  const name = kind === 'mp4' ? getFileName(file) : getFolderName(file)
  return audioOnly.has(name) ? undefined : (byName.get(name) ?? Number.POSITIVE_INFINITY)
}

/** Returns the master playlist without the variants that are higher than `maxHeight`. */
export function withoutHigherVariants(master: string, maxHeight: number): string {
  const isHigherVariant = (line = '') => line.startsWith(STREAM) && (readHeight(line) ?? 0) > maxHeight
  const lines = master.split('\n')
  // The URI of a variant is in the line after its tag.
  return lines.filter((line, index) => !isHigherVariant(line) && !isHigherVariant(lines[index - 1])).join('\n')
}

function readVariants(master: string): { height: number | undefined; uri: string }[] {
  const lines = master.split('\n')
  return lines.flatMap((line, index) => (line.startsWith(STREAM) ? [{ height: readHeight(line), uri: lines[index + 1] ?? '' }] : []))
}

function readHeight(line: string): number | undefined {
  const [, height] = /[:,]RESOLUTION=\d+x(\d+)/.exec(line) ?? []
  return height === undefined ? undefined : Number(height)
}

/** Returns `h264_1200` for `hls/h264_1200/seg-00001.m4s`. */
function getFolderName(path: string): string {
  return path.split('/').at(-2) ?? ''
}

/** Returns `h264_1200` for `mp4/h264_1200.mp4`. */
function getFileName(path: string): string {
  return (path.split('/').at(-1) ?? '').replace(/\.[^.]*$/, '')
}
