import type { ConnectionRecovery } from '../recovery/connection-recovery.ts'
import type { RejectionVerdict } from '../recovery/recovering-loader.ts'
import type { CaptionsOnLoad, CaptionTracks } from './captions-tracks.ts'
import type { QualityRule } from './quality-rule.ts'
import type { CaptionPreference } from './show-on-load.ts'

/** The view that reports of the playback belong to. */
export interface ReportedView {
  viewId: string
  videoId: string
  /** Receives the lines of a CMCD report. */
  send: (report: string) => void
}

/** URLs of the media to play, with a token if one is required. */
export interface Source {
  hls: string
  mp4: string
  /** Returns the index of the track that is shown at the start, or -1 if captions are off. */
  captionsOnLoad: CaptionsOnLoad
  captionPreference: CaptionPreference
  quality: QualityRule
  /**
   * Returns the URL of a file with the current token, which may have been renewed since its
   * playlist was loaded.
   */
  withCurrentToken: (url: string) => string
}

/** Renditions of one height, as viewers know them: `720p`. */
export interface Quality {
  id: string
  width: number
  height: number
}

export interface AudioTrack {
  id: string
  label: string
  language: string
  enabled: boolean
}

/** A source that plays in a `<video>`. */
export interface Playback {
  /** Returns the qualities, or an empty list if there is no choice. */
  listQualities(): Quality[]
  /** Sets the quality. Without an id, the player selects it by the bandwidth. */
  chooseQuality(id: string | undefined): void
  /** Returns the chosen quality, or undefined while the player selects it. */
  getChosenQuality(): string | undefined
  listAudioTracks(): AudioTrack[]
  chooseAudioTrack(id: string): void
  /** Returns whether the media have sound. It is true while this is unknown. */
  hasSound(): boolean
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

/** Heights of the pictures before and after a switch of the rendition, in pixels. */
export interface RenditionSwitch {
  from: number
  to: number
}

export interface PlaybackEvents {
  /** Called when the choices of the menus have changed. */
  onChange: () => void
  /**
   * Called when the picture continues in a rendition of another height. The first rendition does
   * not count.
   */
  onSwitch: () => void
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
  /** The view of CMCD reports. Undefined if the viewer or the operator turned analytics off. */
  reportedView?: ReportedView | undefined
}

/**
 * Reads the state of a playback. Call it before the source is detached, which resets position, rate
 * and play state.
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
 * Merges the levels of the same picture height into one quality, whose id is the index of the level
 * with the highest bit rate. Levels without pictures have no quality.
 */
export function mergeQualities(levels: readonly { width: number; height: number; bitrate: number }[]): Quality[] {
  const best = new Map<number, { index: number; bitrate: number; width: number; height: number }>()
  for (const [index, { width, height, bitrate }] of levels.entries()) {
    const shorterSide = Math.min(width, height)
    if (shorterSide > 0 && bitrate >= (best.get(shorterSide)?.bitrate ?? 0)) best.set(shorterSide, { index, bitrate, width, height })
  }
  const qualities = [...best.values()].map(({ index, width, height }) => ({ id: String(index), width, height }))
  return qualities.toSorted((a, b) => b.height - a.height)
}
