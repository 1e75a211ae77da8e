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
  /** Id of the enabled audio track, or null if there is none. */
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
  /** Null turns captions off, or selects the automatic quality. It is not allowed for audio. */
  setTrack: { kind: TrackKind; track: string | null }
  /** Opens another video of the same platform. Texts have at most 4,000 characters. `autoplay` is false by default. */
  load: { videoId: string; token?: string; autoplay?: boolean }
  /** Changes nothing. The result has the state. */
  getState: NoArguments
}

export type TrackKind = 'captions' | 'audio' | 'quality'
export type CommandName = keyof Commands

/** Sent by the page, which chooses `id`. It is any finite number. */
export type CommandMessage = {
  [Name in CommandName]: { vitascope: ProtocolVersion; id: number; command: Name } & Commands[Name]
}[CommandName]

/** Sent by the page to request the event `ready`. It has no result. */
export interface HelloMessage {
  vitascope: ProtocolVersion
  command: 'hello'
  id: number
}

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

export type RefusalReason =
  /** The settings of the video do not allow the page to control it. */
  | 'origin'
  | 'unknown_command'
  /** An argument is missing, malformed or out of its range. */
  | 'bad_argument'
  /** The video is not loaded yet, or the viewer sees something else instead. */
  | 'not_playable'
  /** The browser requires a click before it plays sound. */
  | 'autoplay_blocked'
  /** An error of the player. */
  | 'failed'

/** Events without a comment are those of a media element. */
export type PlayerEventName =
  /**
   * The player executes commands, or the viewer sees a message, a form or another video instead. It is sent again after
   * `load`, and when the video can be played after that.
   */
  | 'ready'
  | 'play'
  | 'pause'
  /** At most four times a second. */
  | 'timeupdate'
  | 'ended'
  /** The viewer sees a message instead of the video. */
  | 'error'
  /** Other captions or another audio track. */
  | 'trackchange'
  /** Another chapter begins. */
  | 'chapterchange'
  /** Another rendition, or another choice of the viewer. */
  | 'qualitychange'
  | 'volumechange'
  | 'ratechange'
  /** A command was refused. */
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
