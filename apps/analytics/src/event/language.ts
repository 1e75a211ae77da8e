/**
 * Maximum number of cached codes. There are about 900 languages, and players also send codes with
 * regions or without a meaning.
 */
const MAX_CACHED = 2_000
const NAMES = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' })
const cache = new Map<string, string>()

/**
 * Returns the language under which an event counts. A language of the video is returned in the
 * spelling of the video. For other languages it returns the primary subtag in its shortest ISO 639
 * form (`pt` for `pt-BR`, `de` for `deu`), or `""` if the text is not a language. Reports of a video
 * therefore list its own languages and at most about 700 others.
 */
export function toReportedLanguage(language: string, videoLanguages: readonly string[]): string {
  if (language === '' || videoLanguages.includes(language)) return language
  const code = language.toLowerCase()
  const cached = cache.get(code)
  const primary = cached ?? toPrimaryLanguage(code)
  if (cached === undefined) {
    if (cache.size >= MAX_CACHED) cache.clear()
    cache.set(code, primary)
  }
  return videoLanguages.find((videoLanguage) => videoLanguage.toLowerCase() === code) ?? primary
}

function toPrimaryLanguage(code: string): string {
  const [subtag = ''] = code.split('-', 1)
  if (!/^[a-z]{2,3}$/.test(subtag) || NAMES.of(subtag) === undefined) return ''
  return new Intl.Locale(subtag).language
}
