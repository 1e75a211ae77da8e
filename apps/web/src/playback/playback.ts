import type { ConnectionRecovery } from '../recovery/connection-recovery.ts'
import type { RejectionVerdict } from '../recovery/recovering-loader.ts'
import type { CaptionsOnLoad, CaptionTracks } from './captions-tracks.ts'
import type { QualityRule } from './quality-rule.ts'
import type { CaptionPreference } from './show-on-load.ts'

/** URLs of the media to play, with a token if one is required. */
export interface Source {
  hls: string
  mp4: string
  /** Returns the index of the track that is shown at the start, or -1 if captions are off. */
  captionsOnLoad: CaptionsOnLoad
  captionPreference: CaptionPreference
  quality: QualityRule
  /** Returns the URL of a file with the current token, which may have been renewed since its playlist was loaded. */
  withCurrentToken: (url: string) => string
}

/** Item of a menu. The first item is `auto` or `off`. */
export interface Choice {
  value: number
  label: string
}

/** A source that plays in a `<video>`. */
export interface Playback {
  listQualities(): Choice[]
  /** Sets the quality. With -1, the player selects it by the bandwidth. */
  chooseQuality(value: number): void
  getChosenQuality(): number
  captions: CaptionTracks
  /** Returns the language of the current audio track, or an empty string if it is unknown. */
  getAudioLanguage(): string
  /** Returns the viewer's choices, for another source of the same video. */
  readChoices(): SourceChoices
  end(): void
}

export interface SourceChoices {
  /** Chosen quality. It is undefined while the player selects the quality. */
  quality?: { height: number; bitrate: number } | undefined
  sound?: { name: string; language: string } | undefined
}

/** State from which an interrupted playback resumes. */
export interface ResumePoint extends SourceChoices {
  seconds: number
  rate: number
  isPlaying: boolean
}

/**
 * `missing`: the server rejected this file although the record of the video is unchanged.
 * `media`: the browser cannot decode the file.
 * `script`: a part of the page's own script cannot be loaded.
 */
export type PlaybackFailure = { kind: 'missing'; address: string } | { kind: 'media' } | { kind: 'script' }

export interface PlaybackEvents {
  /** Called when the choices of the menus have changed. */
  onChange: () => void
  onFailure: (failure: PlaybackFailure, resume: ResumePoint) => void
  /** Called when a file was rejected (401, 403, 404, 410). */
  onRejection: () => Promise<RejectionVerdict>
}

export interface PlaybackOptions {
  video: HTMLVideoElement
  source: Source
  events: PlaybackEvents
  recovery: ConnectionRecovery
  resume?: ResumePoint | undefined
}

/**
 * Reads the state of a playback. Call it before the source is detached, which resets position, rate and play
 * state.
 */
export function readResumePoint(video: HTMLVideoElement, playback: Playback | undefined): ResumePoint {
  return {
    seconds: video.currentTime,
    rate: video.playbackRate,
    isPlaying: !video.paused,
    ...playback?.readChoices(),
  }
}

/**
 * Returns the choices, the highest first. Levels of the same height, and levels without video, have
 * their bit rate in the label.
 */
export function toQualityChoices(levels: readonly { height: number; bitrate: number }[]): Choice[] {
  if (levels.length < 2) return []
  const heights = levels.map((level) => level.height)
  const choices = levels.map(({ height, bitrate }, value) => ({
    value,
    bitrate,
    label: [
      ...(height > 0 ? [`${height}p`] : []),
      ...(height === 0 || heights.filter((otherHeight) => otherHeight === height).length > 1
        ? [`${Math.round(bitrate / 1000)} kbit/s`]
        : []),
    ].join(', '),
  }))
  const highestFirst = choices.sort((a, b) => b.bitrate - a.bitrate).map(({ value, label }) => ({ value, label }))
  return [{ value: -1, label: 'Auto' }, ...highestFirst]
}
