import type { VideoRecord } from '../video/video-record.ts'

/** Renditions that the owner of a video allows. */
export interface QualityRule {
  /** kbit/s, as in the names of renditions. */
  lowest: number
  highest: number
  /** If false, high definition is excluded. */
  allowsHd: boolean
  /** If true, playback starts with the best rendition, not with a conservative one. */
  startsWithBest: boolean
}

export interface Level {
  width: number
  height: number
  /** Bits per second. */
  bitrate: number
  /** URL of the playlist of the level. The last folder is the name of the rendition. */
  address: string
}

/** Minimum length of the shorter side of a high-definition rendition, in pixels. */
const HD_MIN_PIXELS = 720

export function toQualityRule({ hd, settings }: VideoRecord): QualityRule {
  return { lowest: settings.lowestQuality, highest: settings.highestQuality, allowsHd: hd.allow, startsWithBest: hd.allow && hd.auto }
}

/**
 * Returns the indexes of the levels that may be played. If the rule excludes all, it returns the
 * level with the highest bit rate up to the maximum, or the lowest level if all exceed the maximum.
 */
export function filterLevels(levels: readonly Level[], rule: QualityRule): number[] {
  const candidates = levels.map((level, index) => ({
    index,
    kbits: readKbits(level),
    isHd: Math.min(level.width, level.height) >= HD_MIN_PIXELS,
  }))
  const allowed = candidates.filter(({ isHd }) => rule.allowsHd || !isHd)
  const inRange = allowed.filter(({ kbits }) => kbits >= rule.lowest && kbits <= rule.highest)
  if (inRange.length > 0) return inRange.map(({ index }) => index)
  const sorted = (allowed.length > 0 ? allowed : candidates).toSorted((a, b) => a.kbits - b.kbits)
  const closest = sorted.findLast(({ kbits }) => kbits <= rule.highest) ?? sorted[0]
  return closest ? [closest.index] : []
}

/**
 * Reads the bit rate from the name of the rendition: `…/h264_1200/index.m3u8` has 1,200 kbit/s,
 * regardless of the `bitrate` of its level.
 */
function readKbits({ address, bitrate }: Level): number {
  const [, digits] = /\/[a-z0-9]+_(\d+)\/[^/]*$/.exec(address.replace(/[?#].*$/, '')) ?? []
  return digits === undefined ? bitrate / 1000 : Number(digits)
}
