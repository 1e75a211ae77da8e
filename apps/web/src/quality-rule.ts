import type { VideoRecord } from './video-record.ts'

/** Which renditions of a video its owner wants to be played. */
export interface QualityRule {
  /** kbit/s, as in the names of the renditions. */
  lowest: number
  highest: number
  /** False leaves out high definition. */
  hdAllowed: boolean
  /** Begins with the best one, in place of one that suits the line for certain. */
  bestFirst: boolean
}

export interface Level {
  width: number
  height: number
  /** Bits a second. */
  bitrate: number
  /** Where its playlist is: the name of the rendition is the last folder. */
  address: string
}

/** Lines of the shorter side. */
const highDefinition = 720

export function qualityRule({ hd, settings }: VideoRecord): QualityRule {
  return { lowest: settings.lowestQuality, highest: settings.highestQuality, hdAllowed: hd.allow, bestFirst: hd.allow && hd.auto }
}

/** The places of the levels that may be played; where the rule leaves none, the one that comes closest from below, else the smallest. */
export function playedLevels(levels: readonly Level[], rule: QualityRule): number[] {
  const places = levels.map((level, place) => ({ place, kbits: kbitsOf(level), hd: Math.min(level.width, level.height) >= highDefinition }))
  const small = places.filter(({ hd }) => rule.hdAllowed || !hd)
  const kept = small.filter(({ kbits }) => kbits >= rule.lowest && kbits <= rule.highest)
  if (kept.length > 0) return kept.map(({ place }) => place)
  const rising = (small.length > 0 ? small : places).toSorted((a, b) => a.kbits - b.kbits)
  const closest = rising.findLast(({ kbits }) => kbits <= rule.highest) ?? rising[0]
  return closest ? [closest.place] : []
}

/** `…/h264_1200/index.m3u8` is of 1,200 kbit/s, whatever its picture needs. */
function kbitsOf({ address, bitrate }: Level): number {
  const [, named] = /\/[a-z0-9]+_(\d+)\/[^/]*$/.exec(address.replace(/[?#].*$/, '')) ?? []
  return named === undefined ? bitrate / 1000 : Number(named)
}
