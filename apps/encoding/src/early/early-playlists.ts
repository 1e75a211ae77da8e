import { type EncodePlan, masterPlaylist, mediaPlaylist, type Segment, toNumber } from '@vitascope/media'
import type { EarlyTrack } from './early-track.ts'

const INIT = 'init.mp4'
const LIST = 'index.m3u8'

/** The tracks that can be watched: renditions with a picture and audio tracks. */
export function trackKeys({ renditions, audio }: EncodePlan): string[] {
  return [...renditions.flatMap(({ key, video }) => (video ? [key] : [])), ...(audio?.tracks ?? []).map(({ key }) => key)]
}

/** As the one of the finished set, but that rates are those planned. `codecs` by track. */
export function earlyMaster(plan: EncodePlan, codecs: ReadonlyMap<string, string>): string {
  const codec = (key: string) => codecs.get(key) ?? ''
  const tracks = plan.audio?.tracks ?? []
  if (!plan.video) {
    return masterPlaylist(tracks.map(({ key, kbps }) => ({ uri: `${key}/${LIST}`, segments: [atRate(kbps)], codecs: [codec(key)] })))
  }
  const framesPerSecond = toNumber(plan.video.frameRate)
  return masterPlaylist(
    plan.renditions.flatMap(({ key, label, video, audioKey }) => {
      const sound = tracks.find((track) => track.key === audioKey)
      if (!video) return []
      return {
        uri: `${key}/${LIST}`,
        segments: [atRate(label)],
        codecs: [codec(key), ...(sound ? [codec(sound.key)] : [])],
        picture: { width: video.width, height: video.height, framesPerSecond },
        ...(sound && {
          audio: { key: sound.key, uri: `${sound.key}/${LIST}`, language: plan.audio?.language ?? '', segments: [atRate(sound.kbps)] },
        }),
      }
    }),
  )
}

/** Never ends: the finished set has the playlist that does, and no track ends before the others do. */
export function earlyPlaylist({ segmentSeconds }: EncodePlan, { segments }: EarlyTrack): string {
  const files = segments.map((segment) => ({ ...segment, bytes: 0 }))
  return mediaPlaylist(INIT, files, { isGrowing: true, targetSeconds: segmentSeconds })
}

function atRate(kbps: number): Segment {
  return { name: '', seconds: 1, bytes: kbps * 125 }
}
