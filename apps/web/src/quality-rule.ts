import type { VideoRecord } from './video-record.ts'

/** Renditions that the owner of a video allows. */
export interface QualityRule {
  /** kbit/s, as in the names of renditions. */
  lowest: number
  highest: number
  /** False excludes high definition. */
  hdAllowed: boolean
  /** Starts with the best rendition instead of a conservative one. */
  bestFirst: boolean
}

export interface Level {
  width: number
  height: number
  /** Bits per second. */
  bitrate: number
  /** URL of the playlist of the level. The last folder is the name of the rendition. */
  address: string
}

/** Pixels of the shorter side from which a rendition is high definition. */
const HD_MIN_PIXELS = 720

export function qualityRule({ hd, settings }: VideoRecord): QualityRule {
  return { lowest: settings.lowestQuality, highest: settings.highestQuality, hdAllowed: hd.allow, bestFirst: hd.allow && hd.auto }
}

/**
 * Returns the indexes of the levels that may be played. If the rule excludes all, it returns the
 * level with the highest bit rate up to the maximum, else the smallest one.
 */
export function playedLevels(levels: readonly Level[], rule: QualityRule): number[] {
  const indexes = levels.map((level, place) => ({ place, kbits: kbitsOf(level), hd: Math.min(level.width, level.height) >= HD_MIN_PIXELS }))
  const small = indexes.filter(({ hd }) => rule.hdAllowed || !hd)
  const kept = small.filter(({ kbits }) => kbits >= rule.lowest && kbits <= rule.highest)
  if (kept.length > 0) return kept.map(({ place }) => place)
  const rising = (small.length > 0 ? small : indexes).toSorted((a, b) => a.kbits - b.kbits)
  const closest = rising.findLast(({ kbits }) => kbits <= rule.highest) ?? rising[0]
  return closest ? [closest.place] : []
}

/**
 * `…/h264_1200/index.m3u8` is a rendition of 1,200 kbit/s, whatever the `bitrate` of its level is.
 */
function kbitsOf({ address, bitrate }: Level): number {
  const [, named] = /\/[a-z0-9]+_(\d+)\/[^/]*$/.exec(address.replace(/[?#].*$/, '')) ?? []
  return named === undefined ? bitrate / 1000 : Number(named)
}
