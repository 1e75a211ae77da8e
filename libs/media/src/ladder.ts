import type { PictureCodec } from './picture-codec.ts'
import type { SourceVideo } from './source-probe.ts'

/** One step of the ladder: key, maximum size and rate of a rendition. */
export interface Rung {
  key: string
  /**
   * Nominal bitrate in kbit/s of the file, with sound and container. The average must not exceed it
   * by more than 10 %.
   */
  label: number
  /** Length of the shorter side in pixels. */
  shortSide: number
  audioKbps: number
  profile: 'baseline' | 'high'
  /** Default: H.264. */
  codec?: PictureCodec
}

/**
 * Every source gets the first six rungs. It gets another rung if its shorter side is longer than
 * that of the rung before.
 */
export const ladder: readonly Rung[] = [
  { key: 'h264_100', label: 100, shortSide: 144, audioKbps: 32, profile: 'high' },
  { key: 'h264_250', label: 250, shortSide: 240, audioKbps: 64, profile: 'high' },
  { key: 'h264_360', label: 360, shortSide: 360, audioKbps: 64, profile: 'baseline' },
  { key: 'h264_500', label: 500, shortSide: 360, audioKbps: 64, profile: 'high' },
  { key: 'h264_800', label: 800, shortSide: 480, audioKbps: 128, profile: 'high' },
  { key: 'h264_1200', label: 1200, shortSide: 720, audioKbps: 128, profile: 'high' },
  { key: 'h264_2500', label: 2500, shortSide: 1080, audioKbps: 128, profile: 'high' },
  { key: 'h264_4500', label: 4500, shortSide: 1440, audioKbps: 128, profile: 'high' },
  { key: 'h264_6000', label: 6000, shortSide: 2160, audioKbps: 128, profile: 'high' },
]

/** Names used by older clients; each is an alias of a rendition. */
export const aliasKeys: Readonly<Record<string, string>> = {
  vp6_100: 'h264_100',
  vp6_250: 'h264_250',
  vp6_500: 'h264_500',
  vp6_800: 'h264_800',
  vp6_1200: 'h264_1200',
  m4v_256: 'h264_250',
  m4v_1024: 'h264_1200',
  mobile_360: 'h264_360',
}

/** Keys of the renditions that every source has. */
export const standardKeys: readonly string[] = ladder.slice(0, 6).map((rung) => rung.key)

/**
 * Returns the default renditions of a source: the standard ones, and each higher rung whose
 * predecessor is smaller than the source.
 */
export function defaultKeys(source: FrameSize | undefined): string[] {
  const short = source ? Math.min(source.width, source.height) : 0
  return ladder.filter(({ key }, index) => standardKeys.includes(key) || (ladder[index - 1]?.shortSide ?? 0) < short).map(({ key }) => key)
}

export interface FrameSize {
  width: number
  height: number
}

/**
 * Returns the size of a rung for a source: by the shorter side, even, with the source's aspect
 * ratio, never larger than the source.
 */
export function sizeFor(rung: Pick<Rung, 'shortSide'>, source: Pick<SourceVideo, 'width' | 'height'>): FrameSize {
  const short = Math.min(source.width, source.height)
  const long = Math.max(source.width, source.height)
  // The second bound limits pictures with an extreme aspect ratio to a size that the rung's bitrate
  // can encode.
  const scale = Math.min(1, rung.shortSide / short, (rung.shortSide * 4) / long)
  const size = (pixels: number) => {
    const scaled = pixels * scale
    const even = scale === 1 ? Math.floor(scaled / 2) * 2 : Math.round(scaled / 2) * 2
    return Math.max(2, even)
  }
  return { width: size(source.width), height: size(source.height) }
}

/**
 * Returns the bitrate that remains for the picture in kbit/s. The container needs about 16 bytes
 * per frame in tables and segment headers. Sound needs 3 % more than its bitrate, and 4 kbit/s in
 * the container. 4 % are reserved, because the encoder exceeds its rate at the start.
 */
export function videoKbps(rung: Rung, frameRate: number, hasAudio: boolean): number {
  const sound = hasAudio ? rung.audioKbps * 1.03 + 4 : 0
  const tables = (frameRate * 16 * 8) / 1000 + 1
  return Math.floor((rung.label - sound - tables) * 0.96)
}
