import type Hls from 'hls.js'
import { type CaptionPreference, preferredTrack } from './show-on-load.ts'

/** Caption tracks of a playback: list, current choice and selection. */
export interface CaptionTracks {
  /** The first choice is "off". Empty without captions. */
  choices(): { value: number; label: string }[]
  /** Index of the shown track; -1 if captions are off. */
  chosen(): number
  choose(value: number): void
}

/** Returns the index of the track that shows at the start; -1 for none. */
export type CaptionsOnLoad = (tracks: readonly { name: string; language: string }[]) => number

/** Caption tracks of hls.js. The viewer's choice survives a new list of tracks. */
export function hlsCaptions(
  hls: Hls,
  Library: typeof Hls,
  { onLoad, preference }: { onLoad: CaptionsOnLoad; preference: CaptionPreference },
  changed: () => void,
): CaptionTracks {
  const tracks = () => hls.subtitleTracks.map(({ name, lang }) => ({ name, language: lang ?? '' }))
  const show = (value: number) => {
    hls.subtitleTrack = value
    hls.subtitleDisplay = value >= 0
  }
  const showPreferred = () => {
    show(preferredTrack(tracks(), preference, () => onLoad(tracks())))
    changed()
  }
  // After this event, hls.js selects the default track itself. The viewer's choice is applied after
  // that.
  hls.on(Library.Events.SUBTITLE_TRACKS_UPDATED, () => queueMicrotask(showPreferred))
  return {
    choices: () => captionChoices(tracks().map(({ name, language }) => name || language)),
    chosen: () => hls.subtitleTrack,
    choose: (value) => {
      preference.chosen = tracks()[value] ?? 'off'
      show(value)
    },
  }
}

/**
 * Caption tracks that the browser found. The browser shows the default one by itself, and its
 * native controls may change the choice.
 */
export function nativeCaptions(
  video: HTMLVideoElement,
  preference: CaptionPreference,
  changed: () => void,
  signal: AbortSignal,
): CaptionTracks {
  const tracks = () => [...video.textTracks].filter(({ kind }) => kind === 'subtitles' || kind === 'captions')
  const named = () => tracks().map(({ label, language }) => ({ name: label, language }))
  const chosen = () => tracks().findIndex(({ mode }) => mode === 'showing')
  const show = (value: number) => {
    for (const [at, track] of tracks().entries()) track.mode = at === value ? 'showing' : 'disabled'
  }
  const reapply = () => preference.chosen !== undefined && show(preferredTrack(named(), preference, chosen))
  video.textTracks.addEventListener('addtrack', reapply, { signal })
  for (const event of ['addtrack', 'removetrack', 'change']) video.textTracks.addEventListener(event, changed, { signal })
  return {
    choices: () => captionChoices(tracks().map(({ label, language }) => label || language)),
    chosen,
    choose: (value) => {
      preference.chosen = named()[value] ?? 'off'
      show(value)
    },
  }
}

export function captionChoices(names: readonly string[]): { value: number; label: string }[] {
  if (names.length === 0) return []
  return [{ value: -1, label: 'Off' }, ...names.map((name, value) => ({ value, label: name || `Captions ${value + 1}` }))]
}
