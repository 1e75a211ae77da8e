/**
 * Returns the index of the track that shows at the start: `1` is the first track, a language code
 * is the first track of that language. -1 means none.
 */
export function trackOnLoad(tracks: readonly { name: string; language: string }[], showOnLoad: string, defaultOn: boolean): number {
  const setting = showOnLoad.trim().toLowerCase()
  if (setting === '0' || setting === 'false') return -1
  if (setting === '' && !defaultOn) return -1
  if (setting === '' || setting === '1' || setting === 'true') return tracks.length > 0 ? 0 : -1
  const exact = tracks.findIndex(({ name, language }) => language.toLowerCase() === setting || name.toLowerCase() === setting)
  return exact >= 0 ? exact : tracks.findIndex(({ language }) => primarySubtag(language) === primarySubtag(setting))
}

/** The viewer's choice of captions. It survives the list that it was chosen from. */
export interface CaptionPreference {
  chosen: { name: string; language: string } | 'off' | undefined
}

/**
 * Returns the index of the chosen track in another list: same name and language, else same
 * language. Without a match, the default of the video applies.
 */
export function preferredTrack(
  tracks: readonly { name: string; language: string }[],
  { chosen }: CaptionPreference,
  onLoad: () => number,
): number {
  if (chosen === undefined) return onLoad()
  if (chosen === 'off') return -1
  const same = tracks.findIndex(({ name, language }) => name === chosen.name && language === chosen.language)
  const similar = tracks.findIndex(({ language }) => language !== '' && primarySubtag(language) === primarySubtag(chosen.language))
  return [same, similar].find((place) => place >= 0) ?? onLoad()
}

function primarySubtag(language: string): string {
  return language.toLowerCase().split(/[-_]/, 1)[0] ?? ''
}
