import type Hls from 'hls.js'
import { type CaptionsOnLoad, type CaptionTracks, captionsByBrowser, captionsByLibrary } from './captions-tracks.ts'
import { playedLevels, type QualityRule } from './quality-rule.ts'
import type { CaptionWish } from './show-on-load.ts'

/** What there is to play, with the token in it where one is needed. */
export interface Source {
  hls: string
  mp4: string
  /** Which of the tracks shows from the start; -1 for none. */
  captionsOnLoad: CaptionsOnLoad
  captionWish: CaptionWish
  quality: QualityRule
}

/** A choice of a menu; `auto` and `off` are the first ones. */
export interface Choice {
  value: number
  label: string
}

/** A source that plays in a `<video>`. */
export interface Playback {
  qualities(): Choice[]
  /** -1 lets the player choose by the speed of the line. */
  chooseQuality(value: number): void
  captions: CaptionTracks
  /** The language of the sound that is played; empty where it does not say. */
  heard(): string
  end(): void
}

export interface PlaybackEvents {
  /** The choices are others than before. */
  changed: () => void
  /** It cannot be played; `refused` when the server does not hand it out. */
  failed: (refused: boolean) => void
}

/** HLS by hls.js, by the browser itself where that has no media source (iPhones), else the MP4. */
export async function play(video: HTMLVideoElement, source: Source, events: PlaybackEvents): Promise<Playback> {
  if (source.hls !== '') {
    const { default: Library } = await import('hls.js')
    if (Library.isSupported())
      return playByLibrary(new Library({ enableWorker: false, autoStartLoad: false }), Library, video, source, events)
    if (video.canPlayType('application/vnd.apple.mpegurl') !== '') return playByBrowser(video, source.hls, source.captionWish, events)
  }
  return playByBrowser(video, source.mp4, source.captionWish, events)
}

function playByLibrary(hls: Hls, Library: typeof Hls, video: HTMLVideoElement, source: Source, events: PlaybackEvents): Playback {
  let instead: Playback | undefined
  let mended = false
  const wanted = { onLoad: source.captionsOnLoad, wish: source.captionWish }
  const captions = captionsByLibrary(hls, Library, wanted, events.changed)
  hls.on(Library.Events.MANIFEST_PARSED, () => {
    keepLevels(hls, source.quality)
    // From the beginning: of a video that is still being encoded, the library would take the newest part, as of a live one.
    hls.startLoad(0)
    // From here on it loads by itself again: after a media error that was mended.
    hls.config.autoStartLoad = true
    events.changed()
  })
  hls.on(Library.Events.LEVELS_UPDATED, events.changed)
  hls.on(Library.Events.ERROR, (_, { fatal, type, response }) => {
    if (!fatal) return
    if (type === Library.ErrorTypes.MEDIA_ERROR && !mended) {
      mended = true
      hls.recoverMediaError()
      return
    }
    const status = response?.code ?? 0
    hls.destroy()
    if (status === 401 || status === 403) events.failed(true)
    else if (source.mp4 === '') events.failed(false)
    else {
      instead = playByBrowser(video, source.mp4, source.captionWish, events)
      events.changed()
    }
  })
  hls.loadSource(source.hls)
  hls.attachMedia(video)
  return {
    qualities: () => (instead ? [] : qualityChoices(hls.levels)),
    chooseQuality: (value) => {
      hls.currentLevel = value
    },
    get captions() {
      return instead ? instead.captions : captions
    },
    heard: () => (instead ? '' : (hls.audioTracks[hls.audioTrack]?.lang ?? '')),
    end: () => (instead ? instead.end() : hls.destroy()),
  }
}

/** Leaves the levels that the rule lets through, before the first of them is loaded. */
function keepLevels(hls: Hls, rule: QualityRule): void {
  const levels = hls.levels.map(({ width, height, bitrate, uri }) => ({ width, height, bitrate, address: uri }))
  const kept = playedLevels(levels, rule)
  for (const place of [...levels.keys()].reverse()) if (!kept.includes(place)) hls.removeLevel(place)
  // They stand in the order of their rates.
  if (rule.bestFirst) hls.startLevel = hls.levels.length - 1
}

function playByBrowser(video: HTMLVideoElement, address: string, wish: CaptionWish, events: PlaybackEvents): Playback {
  const ended = new AbortController()
  const failed = () => events.failed(false)
  video.addEventListener('error', failed)
  video.src = address
  return {
    qualities: () => [],
    chooseQuality: () => {},
    captions: captionsByBrowser(video, wish, events.changed, ended.signal),
    heard: () => '',
    end: () => {
      video.removeEventListener('error', failed)
      ended.abort()
      video.removeAttribute('src')
      video.load()
    },
  }
}

/** The highest first; two of one height, and those that are sound alone, are told apart by their rate. */
export function qualityChoices(levels: readonly { height: number; bitrate: number }[]): Choice[] {
  if (levels.length < 2) return []
  const heights = levels.map((level) => level.height)
  const choices = levels.map(({ height, bitrate }, value) => ({
    value,
    bitrate,
    label: [
      ...(height > 0 ? [`${height}p`] : []),
      ...(height === 0 || heights.filter((other) => other === height).length > 1 ? [`${Math.round(bitrate / 1000)} kbit/s`] : []),
    ].join(', '),
  }))
  const highestFirst = choices.sort((a, b) => b.bitrate - a.bitrate).map(({ value, label }) => ({ value, label }))
  return [{ value: -1, label: 'Auto' }, ...highestFirst]
}
