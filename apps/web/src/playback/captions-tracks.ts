import type Hls from 'hls.js'
import { type CaptionPreference, findPreferredTrack } from './show-on-load.ts'

/** Caption tracks of a playback: list, current choice and selection. */
export interface CaptionTracks {
  /** Lists the choices, of which the first is "off". Without captions, the list is empty. */
  listChoices(): { value: number; label: string }[]
  /** Returns the index of the shown track, or -1 if captions are off. */
  chosenIndex(): number
  choose(value: number): void
}

/** Returns the index of the track that is shown at the start, or -1 if captions are off. */
export type CaptionsOnLoad = (tracks: readonly { name: string; language: string }[]) => number

/** Returns the caption tracks of hls.js. The viewer's choice survives a new list of tracks. */
export function createHlsCaptions(
  hls: Hls,
  Library: typeof Hls,
  { onLoad, preference }: { onLoad: CaptionsOnLoad; preference: CaptionPreference },
  onChange: () => void,
): CaptionTracks {
  const listTracks = () => hls.subtitleTracks.map(({ name, lang }) => ({ name, language: lang ?? '' }))
  const show = (value: number) => {
    hls.subtitleTrack = value
    hls.subtitleDisplay = value >= 0
  }
  const showPreferred = () => {
    show(findPreferredTrack(listTracks(), preference, () => onLoad(listTracks())))
    onChange()
  }
  // After this event, hls.js selects the default track itself. The viewer's choice is applied after
  // that.
  hls.on(Library.Events.SUBTITLE_TRACKS_UPDATED, () => queueMicrotask(showPreferred))
  return {
    listChoices: () => toCaptionChoices(listTracks().map(({ name, language }) => name || language)),
    chosenIndex: () => hls.subtitleTrack,
    choose: (value) => {
      preference.chosenTrack = listTracks()[value] ?? 'off'
      show(value)
    },
  }
}

/**
 * Returns the caption tracks that the browser found. The browser shows the default track by itself,
 * and its native controls may change the choice.
 */
export function createNativeCaptions(
  video: HTMLVideoElement,
  preference: CaptionPreference,
  onChange: () => void,
  signal: AbortSignal,
): CaptionTracks {
  const findTracks = () => [...video.textTracks].filter(({ kind }) => kind === 'subtitles' || kind === 'captions')
  const listTracks = () => findTracks().map(({ label, language }) => ({ name: label, language }))
  const findShownIndex = () => findTracks().findIndex(({ mode }) => mode === 'showing')
  const show = (value: number) => {
    for (const [index, track] of findTracks().entries()) track.mode = index === value ? 'showing' : 'disabled'
  }
  const reapply = () => preference.chosenTrack !== undefined && show(findPreferredTrack(listTracks(), preference, findShownIndex))
  video.textTracks.addEventListener('addtrack', reapply, { signal })
  for (const event of ['addtrack', 'removetrack', 'change']) video.textTracks.addEventListener(event, onChange, { signal })
  return {
    listChoices: () => toCaptionChoices(findTracks().map(({ label, language }) => label || language)),
    chosenIndex: findShownIndex,
    choose: (value) => {
      preference.chosenTrack = listTracks()[value] ?? 'off'
      show(value)
    },
  }
}

export function toCaptionChoices(names: readonly string[]): { value: number; label: string }[] {
  if (names.length === 0) return []
  return [{ value: -1, label: 'Off' }, ...names.map((name, value) => ({ value, label: name || `Captions ${value + 1}` }))]
}
