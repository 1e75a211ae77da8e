import type { PlayerState, RefusalReason, TrackKind } from '@vitascope/player/protocol'

export type ControlEvent =
  /** The status is now `waiting` or `playable`. */
  | 'ready'
  | 'play'
  | 'pause'
  | 'timeupdate'
  | 'progress'
  | 'ended'
  | 'trackchange'
  | 'chapterchange'
  | 'qualitychange'
  | 'volumechange'
  | 'ratechange'

/**
 * `loading`: the record or the media are not known yet. `waiting`: the viewer sees a message, a
 * form or another video instead of the video. `playable`: commands for the video are executed.
 */
export type ControlStatus = 'loading' | 'waiting' | 'playable'

/** Functions of the player that are available to a page that embeds it. */
export interface PlayerControl {
  play(): Promise<void>
  pause(): void
  seek(seconds: number): void
  setRate(rate: number): void
  setVolume(volume: number, muted: boolean | undefined): void
  /** Returns false if there is no track with this id. */
  setTrack(kind: TrackKind, id: string | null): boolean
  /** Opens another video. */
  load(videoId: string, options: { token: string | undefined; autoplay: boolean }): void
  setLoop(isOn: boolean): void
  isLooping(): boolean
  readStatus(): ControlStatus
  /** Returns the part of the video that is loaded: 0 to 1. */
  readLoadedPart(): number
  readState(): PlayerState
  /** Calls the listener for each event until the signal aborts. */
  listen(listener: (event: ControlEvent) => void, signal: AbortSignal): void
}

/** A command that the player did not execute. */
export class RejectedCommand extends Error {
  readonly reason: RefusalReason

  constructor(reason: RefusalReason) {
    super(reason)
    this.reason = reason
  }
}
