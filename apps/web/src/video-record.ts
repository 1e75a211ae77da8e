import { asFlag, asNumber, asObject, asText } from './json-values.ts'
import { type PlayerSettings, readPlayerSettings } from './player-settings.ts'
import { readTheme, type Theme } from './theme.ts'

/** What the player reads of the public video record. */
export interface VideoRecord {
  title: string
  poster: string
  /** WebVTT of the pictures above the seek bar; empty where there are none. */
  storyboard: string
  /** Empty as long as nothing can be played. */
  hls: string
  /** A progressive MP4, for browsers that play no HLS. */
  mp4: string
  /** Seconds; 0 where it is not known. */
  duration: number
  state: string
  /** Percent. */
  progress: number
  code: number
  tokenRequired: boolean
  /** `1`, a language code, or empty for what the profile says. */
  captionsOnLoad: string
  /** Language code; empty if unknown. */
  language: string
  hd: { allow: boolean; auto: boolean }
  /** Empty where downloads are not allowed. */
  downloadLink: string
  shareAddress: string
  /** As they came: `readOverlays` reads them. */
  overlays: unknown
  presentationId: string
  settings: PlayerSettings
  theme: Theme
}

/** Middle sizes first: a browser that needs this has no means to change over to another. */
const mp4Keys = ['h264_500', 'h264_360', 'h264_800', 'h264_250', 'h264_1200', 'h264_100']

/** Takes whatever the server sent; what is missing or of another type reads as empty. */
export function readVideoRecord(json: unknown): VideoRecord {
  const record = asObject(json)
  const uri = asObject(record['uri'])
  const http = asObject(uri['http'])
  const status = asObject(record['status'])
  return {
    title: asText(record['video_title']),
    poster: asText(uri['poster_frame']),
    storyboard: asText(uri['storyboard']),
    hls: asText(uri['hls']),
    mp4: mp4Keys.map((key) => asText(http[key])).find((address) => address !== '') ?? '',
    duration: asNumber(record['duration']),
    state: asText(status['status']),
    progress: asNumber(status['progress']),
    code: asNumber(status['code']),
    tokenRequired: asObject(record['security'])['token_required_platform'] === true,
    captionsOnLoad: asText(asObject(record['captions'])['show_on_load']),
    language: asText(record['language']),
    hd: { allow: asFlag(asObject(record['hd'])['allow'], true), auto: asFlag(asObject(record['hd'])['auto']) },
    downloadLink: asText(uri['download_link']),
    shareAddress: asText(asObject(record['sharing'])['url']),
    overlays: record['overlays'] ?? [],
    presentationId: asText(record['presentation_id']),
    settings: readPlayerSettings(record['player_settings']),
    theme: readTheme(record['theme']),
  }
}
