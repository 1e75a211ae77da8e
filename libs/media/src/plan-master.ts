import { segmentNames } from './encode-command.ts'
import { toNumber } from './frame-rate.ts'
import { type AudioGroup, masterPlaylist, type Segment, type Variant } from './hls-playlist.ts'
import type { EncodePlan } from './plan.ts'

/** What there is of a rendition's picture or of an audio track. */
export interface MadeTrack {
  segments: readonly Segment[]
  /** As RFC 6381 spells it. */
  codec: string
}

/** The playlist that a player opens first, of a plan whose tracks are made, or begun. */
export function planMaster(plan: EncodePlan, made: (key: string) => MadeTrack): string {
  const groups = audioGroups(plan, made)
  if (!plan.video) return masterPlaylist(groups.map((group) => soundVariant(group, made)))
  const framesPerSecond = toNumber(plan.video.frameRate)
  return masterPlaylist(
    plan.renditions.map(({ key, video, audioKey }) => {
      const audio = groups.find((group) => group.key === audioKey)
      return {
        uri: uriOf(key),
        segments: made(key).segments,
        codecs: trackKeys(plan, key).map((track) => made(track).codec),
        ...(video ? { picture: { width: video.width, height: video.height, framesPerSecond } } : {}),
        ...(audio ? { audio } : {}),
      }
    }),
  )
}

/** The keys of the tracks that make up a rendition: its picture, its sound, or both. */
export function trackKeys(plan: EncodePlan, renditionKey: string): string[] {
  const rendition = plan.renditions.find(({ key }) => key === renditionKey)
  if (!rendition) return []
  return [...(rendition.video ? [rendition.key] : []), ...(rendition.audioKey === undefined ? [] : [rendition.audioKey])]
}

/** Sound alone: a group is needed only where there is something to choose. */
function soundVariant(group: AudioGroup, made: (key: string) => MadeTrack): Variant {
  const { segments, codec } = made(group.key)
  return { uri: uriOf(group.key), segments, codecs: [codec], ...(group.tracks.length > 1 ? { audio: group } : {}) }
}

function audioGroups({ audio }: EncodePlan, made: (key: string) => MadeTrack): AudioGroup[] {
  const tracks = audio?.tracks ?? []
  return tracks
    .filter(({ key, group }) => key === group)
    .map(({ group }) => ({
      key: group,
      tracks: tracks
        .filter((track) => track.group === group)
        .map(({ key, sound }) => {
          const { name = '', language = '' } = audio?.sounds[sound] ?? {}
          return { uri: uriOf(key), name, language, isDefault: sound === 0, segments: made(key).segments }
        }),
    }))
}

function uriOf(key: string): string {
  return `${key}/${segmentNames.list}`
}
