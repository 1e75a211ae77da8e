import type Hls from 'hls.js'

/** The captions of what plays: which there are, which show, and another choice. */
export interface CaptionTracks {
  /** Off first; empty where there are none. */
  choices(): { value: number; label: string }[]
  /** -1 for none. */
  chosen(): number
  choose(value: number): void
}

/** Which of the tracks shows from the start; -1 for none. */
export type CaptionsOnLoad = (tracks: readonly { name: string; language: string }[]) => number

/** Those of hls.js. What the viewer chose stays chosen when the list is made anew. */
export function captionsByLibrary(hls: Hls, Library: typeof Hls, onLoad: CaptionsOnLoad, changed: () => void): CaptionTracks {
  let wanted: string | undefined
  const names = () => hls.subtitleTracks.map(({ name, lang }) => name || lang || '')
  const show = (value: number) => {
    hls.subtitleTrack = value
    hls.subtitleDisplay = value >= 0
  }
  hls.on(Library.Events.SUBTITLE_TRACKS_UPDATED, () => {
    const first = () => onLoad(hls.subtitleTracks.map(({ name, lang }) => ({ name, language: lang ?? '' })))
    show(wanted === undefined ? first() : names().indexOf(wanted))
    changed()
  })
  return {
    choices: () => captionChoices(names()),
    chosen: () => hls.subtitleTrack,
    choose: (value) => {
      wanted = names()[value] ?? ''
      show(value)
    },
  }
}

/** Those that the browser found by itself, of which it shows the default one by itself. Its own controls may change the choice, too. */
export function captionsByBrowser(video: HTMLVideoElement, changed: () => void, signal: AbortSignal): CaptionTracks {
  const tracks = () => [...video.textTracks].filter(({ kind }) => kind === 'subtitles' || kind === 'captions')
  for (const event of ['addtrack', 'removetrack', 'change']) video.textTracks.addEventListener(event, changed, { signal })
  return {
    choices: () => captionChoices(tracks().map(({ label, language }) => label || language)),
    chosen: () => tracks().findIndex(({ mode }) => mode === 'showing'),
    choose: (value) => {
      for (const [at, track] of tracks().entries()) track.mode = at === value ? 'showing' : 'disabled'
    },
  }
}

export function captionChoices(names: readonly string[]): { value: number; label: string }[] {
  if (names.length === 0) return []
  return [{ value: -1, label: 'Off' }, ...names.map((name, value) => ({ value, label: name || `Captions ${value + 1}` }))]
}
