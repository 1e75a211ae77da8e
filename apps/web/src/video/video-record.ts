import { type ContactForm, readContactForm } from './contact-form.ts'
import { asFlag, asNumber, asObject, asText } from './json-values.ts'
import { type PlayerSettings, readPlayerSettings } from './player-settings.ts'
import { readTheme, type Theme } from './theme.ts'

export interface Chapter {
  title: string
  /** Seconds from the start of the video. */
  start: number
}

/** Fields of the public video record that the player uses. */
export interface VideoRecord {
  title: string
  poster: string
  /** URL of the WebVTT of the storyboard. It is empty if the video has no storyboard. */
  storyboard: string
  /** URL of the HLS playlist. It is empty while no part of the video can be played. */
  hls: string
  /** A progressive MP4 for browsers without HLS support. */
  mp4: string
  /** Duration in seconds. 0 if it is unknown. */
  duration: number
  state: string
  /** Percent. */
  progress: number
  code: number
  tokenRequired: boolean
  /** `1` or a language code. If empty, the settings profile decides. */
  captionsOnLoad: string
  /** Language code. It is empty if the language is unknown. */
  language: string
  hd: { allow: boolean; auto: boolean }
  /** URL of the download. It is empty if downloads are not allowed. */
  downloadLink: string
  shareAddress: string
  /** Unparsed; `readOverlays` parses them. */
  overlays: unknown
  presentationId: string
  /** Chapters in the order of their starts. The first one starts at 0. */
  chapters: Chapter[]
  /** Form that viewers submit before the video. */
  contactForm: ContactForm | undefined
  settings: PlayerSettings
  theme: Theme
  /** Name of the design of the controls. It is empty if the theme has none. */
  skin: string
}

/** Middle sizes first: a browser that plays the MP4 cannot switch to another rendition. */
const mp4Keys = ['h264_500', 'h264_360', 'h264_800', 'h264_250', 'h264_1200', 'h264_100']

/** Parses a server response. Missing values and values of another type are empty in the result. */
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
    chapters: readChapters(record['chapters']),
    contactForm: readContactForm(record['contact_form']),
    settings: readPlayerSettings(record['player_settings']),
    theme: readTheme(record['theme']),
    skin: asText(asObject(record['theme'])['skin']),
  }
}

/** Reads the chapters. Entries without a start are ignored. */
function readChapters(json: unknown): Chapter[] {
  const chapters = (Array.isArray(json) ? json : []).flatMap((entry: unknown) => {
    const { title, start: value } = asObject(entry)
    const start = Number(value ?? Number.NaN)
    return Number.isFinite(start) && start >= 0 ? [{ title: asText(title), start }] : []
  })
  chapters.sort((a, b) => a.start - b.start)
  const [first] = chapters
  return first && first.start > 0 ? [{ title: '', start: 0 }, ...chapters] : chapters
}
