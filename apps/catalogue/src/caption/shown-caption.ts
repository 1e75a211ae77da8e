import type { CaptionSummary } from './caption.ts'

/** Captions with a name that no other of the same media has: players choose by it. */
export interface NamedCaption {
  captionId: string
  name: string
  language: string
  showsOnLoad: boolean
}

/** What a video says of its captions, and whether its profile has them on where it says nothing. */
export interface CaptionsOnLoad {
  showOnLoad: string
  defaultOn: boolean
}

/** The captions of a video as a player lists them. */
export function nameCaptions(captions: readonly CaptionSummary[], onLoad: CaptionsOnLoad): NamedCaption[] {
  const shown = shownCaption(captions, onLoad)
  const taken = new Set<string>()
  return captions.map(({ captionId, title, language }) => {
    let name = title
    for (let count = 2; taken.has(name); count++) name = `${title} (${count})`
    taken.add(name)
    return { captionId, name, language, showsOnLoad: captionId === shown }
  })
}

/**
 * The id of those that show without being chosen: `1` or `true` means the first, a language code or a title those, else the first of the same
 * language in another region; `0`, `false` and a language that is not there none. The player page decides the same way.
 */
export function shownCaption(captions: readonly CaptionSummary[], { showOnLoad, defaultOn }: CaptionsOnLoad): string | undefined {
  const asked = showOnLoad.trim().toLowerCase()
  if (asked === '0' || asked === 'false' || (asked === '' && !defaultOn)) return undefined
  if (asked === '' || asked === '1' || asked === 'true') return captions[0]?.captionId
  const wanted = asked.replaceAll('_', '-')
  const exact = captions.find(({ language, title }) => language.toLowerCase() === wanted || title.toLowerCase() === asked)
  return (exact ?? captions.find(({ language }) => primary(language) === primary(wanted)))?.captionId
}

function primary(language: string): string {
  return language.toLowerCase().split('-', 1)[0] ?? ''
}
