/**
 * Returns the index of the track that is shown at the start, or -1 if captions are off. `1` selects
 * the first track, and a language code selects the first track of that language.
 */
export function findInitialTrack(tracks: readonly { name: string; language: string }[], showOnLoad: string, defaultOn: boolean): number {
  const setting = showOnLoad.trim().toLowerCase()
  if (setting === '0' || setting === 'false') return -1
  if (setting === '' && !defaultOn) return -1
  if (setting === '' || setting === '1' || setting === 'true') return tracks.length > 0 ? 0 : -1
  const exactIndex = tracks.findIndex(({ name, language }) => language.toLowerCase() === setting || name.toLowerCase() === setting)
  return exactIndex >= 0 ? exactIndex : tracks.findIndex(({ language }) => readPrimarySubtag(language) === readPrimarySubtag(setting))
}

export interface CaptionTrackName {
  name: string
  language: string
}

/** The viewer's choice of captions. It also applies to other lists of captions. */
export interface CaptionPreference {
  chosenTrack: CaptionTrackName | 'off' | undefined
  /** Called after the viewer has chosen. */
  onChosen(): void
  /** Returns the captions that were shown most recently. */
  lastShownTrack(): CaptionTrackName | undefined
}

/**
 * Returns the index of the chosen track in another list: a track with the same name and
 * language, or a track with the same language. Without a match, the default of the video applies.
 */
export function findPreferredTrack(
  tracks: readonly { name: string; language: string }[],
  { chosenTrack }: Pick<CaptionPreference, 'chosenTrack'>,
  findDefault: () => number,
): number {
  if (chosenTrack === undefined) return findDefault()
  if (chosenTrack === 'off') return -1
  const exactIndex = tracks.findIndex(({ name, language }) => name === chosenTrack.name && language === chosenTrack.language)
  const languageIndex = tracks.findIndex(
    ({ language }) => language !== '' && readPrimarySubtag(language) === readPrimarySubtag(chosenTrack.language),
  )
  return [exactIndex, languageIndex].find((index) => index >= 0) ?? findDefault()
}

function readPrimarySubtag(language: string): string {
  return language.toLowerCase().split(/[-_]/, 1)[0] ?? ''
}
