import type { PlaybackKind } from '@vitascope/playback-policy'

const STREAM = '#EXT-X-STREAM-INF:'

/** The heights of the renditions of a video, by the names of their folders and files, such as `h264_1200`. */
export interface RenditionHeights {
  byName: ReadonlyMap<string, number>
  /** Renditions with sound only. */
  sound: ReadonlySet<string>
}

export const NO_HEIGHTS: RenditionHeights = { byName: new Map(), sound: new Set() }

/** Reads the heights from the master playlist. */
export function readHeights(master: string): RenditionHeights {
  const byName = new Map<string, number>()
  const sound = new Set<string>()
  for (const { height, uri } of readVariants(master)) {
    const name = getFolderName(uri)
    if (height === undefined) sound.add(name)
    else byName.set(name, Math.max(height, byName.get(name) ?? 0))
  }
  for (const [, uri = ''] of master.matchAll(/^#EXT-X-MEDIA:TYPE=AUDIO.*,URI="([^"]+)"/gm)) sound.add(getFolderName(uri))
  return { byName, sound }
}

/**
 * Returns the height in pixels of the picture in a file. For the master playlist, returns the lowest height in it.
 * Returns undefined for files without picture and for images. Returns infinity for an unknown rendition, so that a
 * limit never admits it.
 */
export function findHeight(file: string, kind: PlaybackKind, { byName, sound }: RenditionHeights): number | undefined {
  if (!['manifest', 'segment', 'mp4', 'download'].includes(kind) || file.endsWith('.m4a') || /(^|\/)captions\//.test(file)) return undefined
  if (/(^|\/)master\.m3u8$/.test(file)) return byName.size === 0 ? undefined : Math.min(...byName.values())
  const name = kind === 'mp4' ? getFileName(file) : getFolderName(file)
  return sound.has(name) ? undefined : (byName.get(name) ?? Number.POSITIVE_INFINITY)
}

/** Returns the master playlist without the variants that are higher than `maxHeight`. */
export function withoutHigherVariants(master: string, maxHeight: number): string {
  const isHigher = (line: string) => (readHeight(line) ?? 0) > maxHeight
  const lines = master.split('\n')
  return lines.filter((line, index) => !isStream(line, isHigher) && !isStream(lines[index - 1], isHigher)).join('\n')
}

function isStream(line: string | undefined, condition: (line: string) => boolean): boolean {
  return line?.startsWith(STREAM) === true && condition(line)
}

function readVariants(master: string): { height: number | undefined; uri: string }[] {
  const lines = master.split('\n')
  return lines.flatMap((line, index) => (line.startsWith(STREAM) ? [{ height: readHeight(line), uri: lines[index + 1] ?? '' }] : []))
}

function readHeight(line: string): number | undefined {
  const [, height] = /[:,]RESOLUTION=\d+x(\d+)/.exec(line) ?? []
  return height === undefined ? undefined : Number(height)
}

/** `h264_1200` of `hls/h264_1200/seg-00001.m4s`. */
function getFolderName(path: string): string {
  return path.split('/').at(-2) ?? ''
}

/** `h264_1200` of `mp4/h264_1200.mp4`. */
function getFileName(path: string): string {
  return (path.split('/').at(-1) ?? '').replace(/\.[^.]*$/, '')
}
