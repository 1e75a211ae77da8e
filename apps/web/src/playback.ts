import type Hls from 'hls.js'

/** What there is to play, with the token in it where one is needed. */
export interface Source {
  hls: string
  mp4: string
  captionsOnLoad: boolean
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
  captions(): Choice[]
  chosenCaptions(): number
  /** -1 shows none. */
  chooseCaptions(value: number): void
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
    if (Library.isSupported()) return playByLibrary(new Library({ enableWorker: false }), Library, video, source, events)
    if (video.canPlayType('application/vnd.apple.mpegurl') !== '') return playByBrowser(video, source.hls, events)
  }
  return playByBrowser(video, source.mp4, events)
}

function playByLibrary(hls: Hls, Library: typeof Hls, video: HTMLVideoElement, source: Source, events: PlaybackEvents): Playback {
  let instead: Playback | undefined
  let mended = false
  const showCaptions = (value: number) => {
    hls.subtitleTrack = value
    hls.subtitleDisplay = value >= 0
  }
  hls.on(Library.Events.MANIFEST_PARSED, events.changed)
  hls.on(Library.Events.LEVELS_UPDATED, events.changed)
  hls.on(Library.Events.SUBTITLE_TRACKS_UPDATED, () => {
    showCaptions(source.captionsOnLoad ? 0 : -1)
    events.changed()
  })
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
      instead = playByBrowser(video, source.mp4, events)
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
    captions: () => (instead ? instead.captions() : captionChoices(hls.subtitleTracks.map(({ name, lang }) => name || lang || ''))),
    chosenCaptions: () => (instead ? instead.chosenCaptions() : hls.subtitleTrack),
    chooseCaptions: (value) => {
      if (instead) instead.chooseCaptions(value)
      else showCaptions(value)
    },
    end: () => (instead ? instead.end() : hls.destroy()),
  }
}

function playByBrowser(video: HTMLVideoElement, address: string, events: PlaybackEvents): Playback {
  const tracks = () => [...video.textTracks]
  const failed = () => events.failed(false)
  video.addEventListener('error', failed)
  video.textTracks.addEventListener('addtrack', events.changed)
  video.src = address
  return {
    qualities: () => [],
    chooseQuality: () => {},
    captions: () => captionChoices(tracks().map(({ label, language }) => label || language)),
    chosenCaptions: () => tracks().findIndex((track) => track.mode === 'showing'),
    chooseCaptions: (value) => {
      for (const [at, track] of tracks().entries()) track.mode = at === value ? 'showing' : 'disabled'
    },
    end: () => {
      video.removeEventListener('error', failed)
      video.textTracks.removeEventListener('addtrack', events.changed)
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

export function captionChoices(names: readonly string[]): Choice[] {
  if (names.length === 0) return []
  return [{ value: -1, label: 'Off' }, ...names.map((name, value) => ({ value, label: name || `Captions ${value + 1}` }))]
}
