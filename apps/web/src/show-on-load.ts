/** The track that shows from the start: `1` is the first, a language code the first of that language; -1 is none. */
export function trackOnLoad(tracks: readonly { name: string; language: string }[], showOnLoad: string, defaultOn: boolean): number {
  const asked = showOnLoad.trim().toLowerCase()
  if (asked === '0' || asked === 'false') return -1
  if (asked === '' && !defaultOn) return -1
  if (asked === '' || asked === '1' || asked === 'true') return tracks.length > 0 ? 0 : -1
  const exact = tracks.findIndex(({ name, language }) => language.toLowerCase() === asked || name.toLowerCase() === asked)
  return exact >= 0 ? exact : tracks.findIndex(({ language }) => primary(language) === primary(asked))
}

function primary(language: string): string {
  return language.toLowerCase().split(/[-_]/, 1)[0] ?? ''
}
