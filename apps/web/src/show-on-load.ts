/**
 * Returns the index of the track that shows at the start: `1` is the first track, a language code
 * is the first track of that language. -1 means none.
 */
export function trackOnLoad(tracks: readonly { name: string; language: string }[], showOnLoad: string, defaultOn: boolean): number {
  const asked = showOnLoad.trim().toLowerCase()
  if (asked === '0' || asked === 'false') return -1
  if (asked === '' && !defaultOn) return -1
  if (asked === '' || asked === '1' || asked === 'true') return tracks.length > 0 ? 0 : -1
  const exact = tracks.findIndex(({ name, language }) => language.toLowerCase() === asked || name.toLowerCase() === asked)
  return exact >= 0 ? exact : tracks.findIndex(({ language }) => primary(language) === primary(asked))
}

/** The viewer's choice of captions. It survives the list that it was chosen from. */
export interface CaptionWish {
  chosen: { name: string; language: string } | 'off' | undefined
}

/**
 * Returns the index of the chosen track in another list: same name and language, else same
 * language. Without a match, the default of the video applies.
 */
export function wishedTrack(tracks: readonly { name: string; language: string }[], { chosen }: CaptionWish, onLoad: () => number): number {
  if (chosen === undefined) return onLoad()
  if (chosen === 'off') return -1
  const same = tracks.findIndex(({ name, language }) => name === chosen.name && language === chosen.language)
  const alike = tracks.findIndex(({ language }) => language !== '' && primary(language) === primary(chosen.language))
  return [same, alike].find((place) => place >= 0) ?? onLoad()
}

function primary(language: string): string {
  return language.toLowerCase().split(/[-_]/, 1)[0] ?? ''
}
