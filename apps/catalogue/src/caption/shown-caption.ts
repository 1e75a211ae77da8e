import type { CaptionSummary } from './caption.ts'

/** Captions with a name that is unique within the media. Players select captions by name. */
export interface NamedCaption {
  captionId: string
  name: string
  language: string
  showsOnLoad: boolean
}

/** The `showOnLoad` value of a video, and the default of its profile for an empty value. */
export interface CaptionsOnLoad {
  showOnLoad: string
  defaultOn: boolean
}

/** Returns the captions of a video with unique names, in the order of the player's menu. */
export function nameCaptions(captions: readonly CaptionSummary[], onLoad: CaptionsOnLoad): NamedCaption[] {
  const initialId = findInitialCaption(captions, onLoad)
  const names = new Set<string>()
  return captions.map(({ captionId, title, language }) => {
    let name = title
    for (let count = 2; names.has(name); count++) name = `${title} (${count})`
    names.add(name)
    return { captionId, name, language, showsOnLoad: captionId === initialId }
  })
}

/**
 * Returns the id of the captions that are shown initially. `1` and `true` select the first captions,
 * and so does an empty value if `defaultOn` is true.
 * A language code or a title selects the captions with it, or else the first captions in the same
 * language for another region. `0`, `false` and an unknown language select no captions. The player
 * page uses the same rules.
 */
export function findInitialCaption(captions: readonly CaptionSummary[], { showOnLoad, defaultOn }: CaptionsOnLoad): string | undefined {
  const setting = showOnLoad.trim().toLowerCase()
  if (setting === '0' || setting === 'false' || (setting === '' && !defaultOn)) return undefined
  if (setting === '' || setting === '1' || setting === 'true') return captions[0]?.captionId
  const requestedLanguage = setting.replaceAll('_', '-')
  const exactMatch = captions.find(({ language, title }) => language.toLowerCase() === requestedLanguage || title.toLowerCase() === setting)
  return (exactMatch ?? captions.find(({ language }) => toPrimaryLanguage(language) === toPrimaryLanguage(requestedLanguage)))?.captionId
}

function toPrimaryLanguage(language: string): string {
  return language.toLowerCase().split('-', 1)[0] ?? ''
}
