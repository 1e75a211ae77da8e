import type Hls from 'hls.js'
import { type CaptionPreference, findPreferredTrack } from './show-on-load.ts'

/** Caption tracks of a playback: list, current choice and selection. */
export interface CaptionTracks {
  listTracks(): { name: string; language: string }[]
  /** Returns the index of the shown track, or -1 if captions are off. */
  chosenIndex(): number
  /** Shows the track with an index. With -1, captions are off. */
  choose(index: number): void
  /** Turns captions off, or on again in the language that was shown last. */
  toggle(): void
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
  return createCaptionTracks(listTracks, () => hls.subtitleTrack, show, preference)
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
  return createCaptionTracks(listTracks, findShownIndex, show, preference)
}

function createCaptionTracks(
  listTracks: CaptionTracks['listTracks'],
  chosenIndex: () => number,
  show: (index: number) => void,
  preference: CaptionPreference,
): CaptionTracks {
  let lastShown: { name: string; language: string } | undefined
  const choose = (index: number) => {
    lastShown = listTracks()[index] ?? listTracks()[chosenIndex()] ?? lastShown
    preference.chosenTrack = listTracks()[index] ?? 'off'
    preference.onChosen()
    show(index)
  }
  return {
    listTracks,
    chosenIndex,
    choose,
    toggle() {
      const tracks = listTracks()
      if (chosenIndex() >= 0) return choose(-1)
      const index = findPreferredTrack(tracks, { chosenTrack: lastShown ?? preference.lastShownTrack() }, () => 0)
      if (tracks.length > 0) choose(index)
    },
  }
}
