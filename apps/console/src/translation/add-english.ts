import i18next from 'i18next'

/** Adds the English texts of a page that is loaded when it is opened. */
export function addEnglish(texts: object): void {
  i18next.addResourceBundle('en', 'translation', texts, true)
}
