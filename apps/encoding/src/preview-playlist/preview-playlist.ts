import { type EncodePlan, mediaPlaylist, planMaster, type Segment } from '@vitascope/media'
import type { PreviewTrack } from './preview-track.ts'

const INIT = 'init.mp4'

/** Returns the keys of playable tracks: renditions with video, and audio tracks. */
export function trackKeys({ renditions, audio }: EncodePlan): string[] {
  return [...renditions.flatMap(({ key, video }) => (video ? [key] : [])), ...(audio?.tracks ?? []).map(({ key }) => key)]
}

/**
 * Returns the master playlist. It equals that of the finished set, except that bitrates are the
 * planned ones. The keys of `codecs` are those of the tracks.
 */
export function previewMaster(plan: EncodePlan, codecs: ReadonlyMap<string, string>): string {
  const rates = new Map([...plan.renditions.map(({ key, label }) => [key, label] as const), ...audioBitrates(plan)])
  return planMaster(plan, (key) => ({ segments: [buildRateSegment(rates.get(key) ?? 0)], codec: codecs.get(key) ?? '' }))
}

function audioBitrates({ audio }: EncodePlan): [string, number][] {
  return (audio?.tracks ?? []).map(({ key, kbps }) => [key, kbps])
}

/**
 * Returns the media playlist of a track. It has no end tag, because only the finished set's
 * playlist ends and no track may end before the others.
 */
export function previewPlaylist({ segmentSeconds }: EncodePlan, { segments }: PreviewTrack): string {
  const files = segments.map((segment) => ({ ...segment, bytes: 0 }))
  return mediaPlaylist(INIT, files, { isGrowing: true, targetSeconds: segmentSeconds })
}

function buildRateSegment(kbps: number): Segment {
  return { name: '', seconds: 1, bytes: kbps * 125 }
}
