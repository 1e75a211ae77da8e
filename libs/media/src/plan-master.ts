import { segmentNames } from './encode-command.ts'
import { toNumber } from './frame-rate.ts'
import { type AudioGroup, masterPlaylist, type Segment, type Variant } from './hls-playlist.ts'
import type { EncodePlan } from './plan.ts'

/** Segments of a rendition's picture or of an audio track that exist so far. */
export interface PackagedTrack {
  segments: readonly Segment[]
  /** RFC 6381 codec string. */
  codec: string
}

/** Returns the master playlist of a plan whose tracks are complete or started. */
export function planMaster(plan: EncodePlan, getTrack: (key: string) => PackagedTrack): string {
  const groups = audioGroups(plan, getTrack)
  if (!plan.video) return masterPlaylist(groups.map((group) => soundVariant(group, getTrack)))
  const framesPerSecond = toNumber(plan.video.frameRate)
  return masterPlaylist(
    plan.renditions.map(({ key, video, audioKey }) => {
      const audio = groups.find((group) => group.key === audioKey)
      return {
        uri: formatPlaylistUri(key),
        segments: getTrack(key).segments,
        codecs: trackKeys(plan, key).map((track) => getTrack(track).codec),
        ...(video ? { picture: { width: video.width, height: video.height, framesPerSecond } } : {}),
        ...(audio ? { audio } : {}),
      }
    }),
  )
}

/** Returns the keys of the tracks of a rendition: its picture, its sound, or both. */
export function trackKeys(plan: EncodePlan, renditionKey: string): string[] {
  const rendition = plan.renditions.find(({ key }) => key === renditionKey)
  if (!rendition) return []
  return [...(rendition.video ? [rendition.key] : []), ...(rendition.audioKey === undefined ? [] : [rendition.audioKey])]
}

/** Returns a variant with sound only. It needs an audio group only if there are several tracks. */
function soundVariant(group: AudioGroup, getTrack: (key: string) => PackagedTrack): Variant {
  const { segments, codec } = getTrack(group.key)
  return { uri: formatPlaylistUri(group.key), segments, codecs: [codec], ...(group.tracks.length > 1 ? { audio: group } : {}) }
}

function audioGroups({ audio }: EncodePlan, getTrack: (key: string) => PackagedTrack): AudioGroup[] {
  const tracks = audio?.tracks ?? []
  return tracks
    .filter(({ key, group }) => key === group)
    .map(({ group }) => ({
      key: group,
      tracks: tracks
        .filter((track) => track.group === group)
        .map(({ key, sound }) => {
          const { name = '', language = '' } = audio?.sounds[sound] ?? {}
          return { uri: formatPlaylistUri(key), name, language, isDefault: sound === 0, segments: getTrack(key).segments }
        }),
    }))
}

function formatPlaylistUri(key: string): string {
  return `${key}/${segmentNames.list}`
}
