import type { Texts } from './english.ts'
import { setTexts } from './text.ts'

/** Loads the texts of a language, and those that media-chrome has built in. */
const loaders: Readonly<Record<string, () => Promise<{ texts: Texts }>>> = {
  de: () => import('./german.ts'),
  es: () => import('./spanish.ts'),
  fr: () => import('./french.ts'),
  ja: () => import('./japanese.ts'),
  nl: () => import('./dutch.ts'),
}

const rightToLeftLanguages: ReadonlySet<string> = new Set(['ar', 'dv', 'fa', 'he', 'ku', 'ps', 'ur', 'yi'])

export interface PageLanguage {
  /** Language of the texts of the player. */
  language: string
  /** Direction of the first language that the viewer prefers, for titles and lists. */
  direction: 'ltr' | 'rtl'
}

/** Selects the first language with a translation. Without one, the texts are English. */
export function selectLanguage(preferred: readonly string[]): PageLanguage {
  const languages = preferred.map((tag) => tag.toLowerCase().split(/[-_]/, 1)[0] ?? '')
  return {
    language: languages.find((language) => language === 'en' || Object.hasOwn(loaders, language)) ?? 'en',
    direction: rightToLeftLanguages.has(languages[0] ?? '') ? 'rtl' : 'ltr',
  }
}

/** Loads the texts of a language. If they cannot be loaded, the texts stay English. */
export async function loadLanguage(language: string): Promise<boolean> {
  const load = loaders[language]
  if (load === undefined) return language === 'en'
  try {
    setTexts((await load()).texts)
    return true
  } catch {
    return false
  }
}
