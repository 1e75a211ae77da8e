import { type EncodePlan, mediaPlaylist, planMaster, type Segment } from '@vitascope/media'
import type { EarlyTrack } from './early-track.ts'

const INIT = 'init.mp4'

/** The tracks that can be watched: renditions with a picture and audio tracks. */
export function trackKeys({ renditions, audio }: EncodePlan): string[] {
  return [...renditions.flatMap(({ key, video }) => (video ? [key] : [])), ...(audio?.tracks ?? []).map(({ key }) => key)]
}

/** As the one of the finished set, but that rates are those planned. `codecs` by track. */
export function earlyMaster(plan: EncodePlan, codecs: ReadonlyMap<string, string>): string {
  const rates = new Map([...plan.renditions.map(({ key, label }) => [key, label] as const), ...soundRates(plan)])
  return planMaster(plan, (key) => ({ segments: [atRate(rates.get(key) ?? 0)], codec: codecs.get(key) ?? '' }))
}

function soundRates({ audio }: EncodePlan): [string, number][] {
  return (audio?.tracks ?? []).map(({ key, kbps }) => [key, kbps])
}

/** Never ends: the finished set has the playlist that does, and no track ends before the others do. */
export function earlyPlaylist({ segmentSeconds }: EncodePlan, { segments }: EarlyTrack): string {
  const files = segments.map((segment) => ({ ...segment, bytes: 0 }))
  return mediaPlaylist(INIT, files, { isGrowing: true, targetSeconds: segmentSeconds })
}

function atRate(kbps: number): Segment {
  return { name: '', seconds: 1, bytes: kbps * 125 }
}
