/**
 * Messages between a page and the player in its frame, by `postMessage`. Each message has
 * `vitascope: 1`, the version of the protocol.
 */

/** Version of the protocol. */
export type ProtocolVersion = 1

/** A caption track, an audio track or a quality. */
export interface TrackInfo {
  id: string
  label: string
  /** Language tag. It is empty for qualities and if it is unknown. */
  language: string
}

export interface ChapterInfo {
  title: string
  /** Seconds from the start of the video. */
  start: number
}

/** State of the player. All times are seconds. */
export interface PlayerState {
  videoId: string
  title: string
  paused: boolean
  ended: boolean
  currentTime: number
  /** 0 until it is known. */
  duration: number
  /** 0 to 1. */
  volume: number
  muted: boolean
  /** 0.25 to 2. */
  rate: number
  qualities: TrackInfo[]
  /** Id of the chosen quality, or null if the player selects it. */
  quality: string | null
  captionTracks: TrackInfo[]
  /** Id of the shown track, or null if captions are off. */
  captions: string | null
  audioTracks: TrackInfo[]
  audio: string | null
  chapters: ChapterInfo[]
  /** Title of the current chapter, or null without chapters. */
  chapter: string | null
}

type NoArguments = Record<never, never>

/** Commands and their arguments. */
export interface Commands {
  play: NoArguments
  pause: NoArguments
  /** 0 to the duration. */
  seek: { seconds: number }
  /** 0.25 to 2. */
  setRate: { rate: number }
  /** 0 to 1. `muted` changes only if it is present. */
  setVolume: { volume: number; muted?: boolean }
  /** Null: captions off, or the automatic quality. */
  setTrack: { kind: TrackKind; track: string | null }
  /** Opens another video of the same platform. */
  load: { videoId: string; token?: string; autoplay?: boolean }
  /** Changes nothing. The result has the state. */
  getState: NoArguments
}

export type TrackKind = 'captions' | 'audio' | 'quality'
export type CommandName = keyof Commands

/** Sent by the page. */
export type CommandMessage = {
  [Name in CommandName]: { vitascope: ProtocolVersion; id: number; command: Name } & Commands[Name]
}[CommandName]

/** Answer to one command. */
export interface ResultMessage {
  vitascope: ProtocolVersion
  type: 'result'
  /** Id of the command. */
  id: number
  ok: boolean
  /** Reason, if the command was refused. */
  error?: RefusalReason
  /** Absent if the page must not control the current video. */
  state?: PlayerState
}

export type RefusalReason = 'origin' | 'unknown_command' | 'bad_argument' | 'not_playable' | 'autoplay_blocked' | 'failed'

export type PlayerEventName =
  | 'ready'
  | 'play'
  | 'pause'
  | 'timeupdate'
  | 'ended'
  | 'error'
  | 'trackchange'
  | 'chapterchange'
  | 'qualitychange'
  | 'volumechange'
  | 'ratechange'
  | 'refused'

/** Sent by the player to every page that embeds it, when it can receive messages. */
export interface AvailableMessage {
  vitascope: ProtocolVersion
  type: 'available'
}

/** Sent by the player. */
export interface EventMessage {
  vitascope: ProtocolVersion
  type: 'event'
  event: PlayerEventName
  /** Absent in `refused`. */
  state?: PlayerState
  /** In `error`: the text that the viewer sees. */
  message?: string
  /** In `refused`. */
  reason?: RefusalReason
}
