/**
 * Maximum number of cached codes. There are about 900 languages; the rest is room for other codes
 * that players send.
 */
const MAX_CACHED = 2_000
const NAMES = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' })
const cache = new Map<string, string>()

/**
 * Returns the language under which an event counts. A language of the video is returned as the
 * video spells it. Otherwise returns the primary subtag in its shortest ISO 639 form (`pt` for
 * `pt-BR`, `de` for `deu`), or `""` if it is not a language. So reports of a video list its own
 * languages and at most about 700 others, regardless of what players send.
 */
export function countedLanguage(sent: string, own: readonly string[]): string {
  if (sent === '' || own.includes(sent)) return sent
  const code = sent.toLowerCase()
  const known = cache.get(code)
  const primary = known ?? primaryLanguage(code)
  if (known === undefined) {
    if (cache.size >= MAX_CACHED) cache.clear()
    cache.set(code, primary)
  }
  return own.find((one) => one.toLowerCase() === code) ?? primary
}

function primaryLanguage(code: string): string {
  const [subtag = ''] = code.split('-', 1)
  if (!/^[a-z]{2,3}$/.test(subtag) || NAMES.of(subtag) === undefined) return ''
  return new Intl.Locale(subtag).language
}
