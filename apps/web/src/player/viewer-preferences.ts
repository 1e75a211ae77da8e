import type { CaptionPreference, CaptionTrackName } from '../playback/show-on-load.ts'
import { asObject, asText } from '../video/json-values.ts'

export const captionSizes = ['small', 'medium', 'large', 'veryLarge'] as const
export const captionStyles = ['captionStyleBox', 'captionStyleContrast', 'captionStyleOutline'] as const
export type CaptionSize = (typeof captionSizes)[number]
export type CaptionStyle = (typeof captionStyles)[number]

/** Choices of the viewer that the browser stores for all videos of this server. */
export interface ViewerPreferences {
  captionSize: CaptionSize
  captionStyle: CaptionStyle
  /** Undefined until the viewer has chosen captions. */
  captions: CaptionTrackName | 'off' | undefined
  /** Captions that were shown most recently. */
  lastCaptions: CaptionTrackName | undefined
  /** Whether a playlist continues with its next video. */
  playNext: boolean
}

const KEY = 'vitascope-player'

/** Reads the choices. A browser without storage, and damaged contents, return the defaults. */
export function readPreferences(): ViewerPreferences {
  const stored = asObject(readStorage())
  return {
    captionSize: captionSizes.find((size) => size === stored['captionSize']) ?? 'medium',
    captionStyle: captionStyles.find((style) => style === stored['captionStyle']) ?? 'captionStyleBox',
    captions: stored['captions'] === 'off' ? 'off' : readTrack(stored['captions']),
    lastCaptions: readTrack(stored['lastCaptions']),
    playNext: stored['playNext'] !== false,
  }
}

export function writePreferences(changes: Partial<ViewerPreferences>): void {
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...readPreferences(), ...changes }))
  } catch {
    // Without storage, the choices are valid until the page is left.
  }
}

/** Returns the viewer's choice of captions, which is stored for later videos. */
export function createCaptionPreference(): CaptionPreference {
  const { captions, lastCaptions } = readPreferences()
  let last = lastCaptions
  const preference: CaptionPreference = {
    chosenTrack: captions,
    onChosen() {
      const { chosenTrack } = preference
      if (chosenTrack !== 'off') last = chosenTrack
      writePreferences({ captions: chosenTrack, lastCaptions: last })
    },
    lastShownTrack: () => last,
  }
  return preference
}

function readStorage(): unknown {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? '{}')
  } catch {
    return {}
  }
}

function readTrack(value: unknown): CaptionTrackName | undefined {
  const track = asObject(value)
  const [name, language] = [asText(track['name']), asText(track['language'])]
  return name === '' && language === '' ? undefined : { name, language }
}
