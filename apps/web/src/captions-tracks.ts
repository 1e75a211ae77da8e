import type Hls from 'hls.js'
import { type CaptionWish, wishedTrack } from './show-on-load.ts'

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
export function captionsByLibrary(
  hls: Hls,
  Library: typeof Hls,
  { onLoad, wish }: { onLoad: CaptionsOnLoad; wish: CaptionWish },
  changed: () => void,
): CaptionTracks {
  const tracks = () => hls.subtitleTracks.map(({ name, lang }) => ({ name, language: lang ?? '' }))
  const show = (value: number) => {
    hls.subtitleTrack = value
    hls.subtitleDisplay = value >= 0
  }
  const begin = () => {
    show(wishedTrack(tracks(), wish, () => onLoad(tracks())))
    changed()
  }
  // Once it has told of the tracks, it sets the default one itself: the choice comes after that.
  hls.on(Library.Events.SUBTITLE_TRACKS_UPDATED, () => queueMicrotask(begin))
  return {
    choices: () => captionChoices(tracks().map(({ name, language }) => name || language)),
    chosen: () => hls.subtitleTrack,
    choose: (value) => {
      wish.chosen = tracks()[value] ?? 'off'
      show(value)
    },
  }
}

/** Those that the browser found by itself, of which it shows the default one by itself. Its own controls may change the choice, too. */
export function captionsByBrowser(video: HTMLVideoElement, wish: CaptionWish, changed: () => void, signal: AbortSignal): CaptionTracks {
  const tracks = () => [...video.textTracks].filter(({ kind }) => kind === 'subtitles' || kind === 'captions')
  const named = () => tracks().map(({ label, language }) => ({ name: label, language }))
  const chosen = () => tracks().findIndex(({ mode }) => mode === 'showing')
  const show = (value: number) => {
    for (const [at, track] of tracks().entries()) track.mode = at === value ? 'showing' : 'disabled'
  }
  const again = () => wish.chosen !== undefined && show(wishedTrack(named(), wish, chosen))
  video.textTracks.addEventListener('addtrack', again, { signal })
  for (const event of ['addtrack', 'removetrack', 'change']) video.textTracks.addEventListener(event, changed, { signal })
  return {
    choices: () => captionChoices(tracks().map(({ label, language }) => label || language)),
    chosen,
    choose: (value) => {
      wish.chosen = named()[value] ?? 'off'
      show(value)
    },
  }
}

export function captionChoices(names: readonly string[]): { value: number; label: string }[] {
  if (names.length === 0) return []
  return [{ value: -1, label: 'Off' }, ...names.map((name, value) => ({ value, label: name || `Captions ${value + 1}` }))]
}
