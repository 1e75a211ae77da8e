import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import { english } from './english.ts'
import { setFieldRules } from './field-message.ts'

/** Languages of the console, with their own names. */
export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const
export type Language = keyof typeof LANGUAGES
const STORAGE_NAME = 'vitascope-language'

/** Starts with the chosen language, or else with the first known one of the browser. */
export async function startTranslation(): Promise<void> {
  await i18next.use(initReactI18next).init({
    resources: { en: { translation: english } },
    lng: 'en',
    fallbackLng: 'en',
    interpolation: { escapeValue: false },
  })
  const chosen = readChoice() ?? navigator.languages.map((tag) => tag.slice(0, 2)).find(isLanguage) ?? 'en'
  await showLanguage(chosen)
}

/** Shows the console in a language, and keeps the choice in this browser. */
export async function chooseLanguage(language: Language): Promise<void> {
  try {
    localStorage.setItem(STORAGE_NAME, language)
  } catch {
    // The browser stores nothing. The choice applies to this page.
  }
  await showLanguage(language)
}

async function showLanguage(language: Language): Promise<void> {
  if (language === 'de') {
    const { german, fieldRules } = await import('./german.ts')
    i18next.addResourceBundle('de', 'translation', german)
    setFieldRules(fieldRules)
  } else {
    setFieldRules([])
  }
  await i18next.changeLanguage(language)
  document.documentElement.lang = language
}

function readChoice(): Language | undefined {
  try {
    const stored = localStorage.getItem(STORAGE_NAME) ?? ''
    return isLanguage(stored) ? stored : undefined
  } catch {
    return undefined
  }
}

function isLanguage(text: string): text is Language {
  return Object.hasOwn(LANGUAGES, text)
}
