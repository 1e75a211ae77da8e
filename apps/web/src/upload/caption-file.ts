/** Formats that the server reads. */
const FORMATS = ['vtt', 'srt', 'sbv', 'sub'] as const
export type CaptionFormat = (typeof FORMATS)[number]

/** Value of `accept` for a file input. */
export const CAPTION_EXTENSIONS = FORMATS.map((format) => `.${format}`).join(',')

/** Codes of the languages that the page offers. Browsers have their names. */
const LANGUAGES = [
  ...['ar', 'bg', 'bn', 'ca', 'cs', 'cy', 'da', 'de', 'el', 'en', 'es', 'et', 'eu', 'fa', 'fi', 'fil', 'fr', 'ga', 'gl', 'he'],
  ...['hi', 'hr', 'hu', 'id', 'is', 'it', 'ja', 'ko', 'lb', 'lt', 'lv', 'ms', 'mt', 'nb', 'nl', 'nn', 'pl', 'pt', 'pt-BR', 'ro'],
  ...['ru', 'sk', 'sl', 'sq', 'sr', 'sv', 'sw', 'ta', 'te', 'th', 'tr', 'uk', 'ur', 'vi', 'zh-Hans', 'zh-Hant'],
]

/** Returns the codes and names of the languages, sorted by name. */
export function listLanguages(): { code: string; name: string }[] {
  return LANGUAGES.map((code) => ({ code, name: formatLanguage(code) })).sort((a, b) => a.name.localeCompare(b.name, 'en'))
}

/** Returns the English name of a language. Viewers select captions by it. */
export function formatLanguage(code: string): string {
  return new Intl.DisplayNames('en', { type: 'language' }).of(code) ?? code
}

/** Returns the format of a caption file by the extension of its name, or undefined. */
export function readFormat(fileName: string): CaptionFormat | undefined {
  const extension = /[.]([a-z]+)$/.exec(fileName.toLowerCase())?.[1]
  return FORMATS.find((format) => format === extension)
}

/**
 * Returns the language in a file name such as `talk.en.vtt`, `talk_de-AT.srt` or `German.srt`.
 * Returns an empty text if there is none that the page offers. After a space, `it` is a word and
 * not a code.
 */
export function guessLanguage(fileName: string): string {
  const languages = listLanguages()
  const name = fileName.toLowerCase()
  const tag = /(?:^|[._])([a-z]{2,3}(?:-[a-z0-9]+)?)[.][a-z]+$/.exec(name)?.[1] ?? ''
  const byCode = [tag, tag.split('-')[0]].map((code) => languages.find((language) => language.code.toLowerCase() === code))
  const words = name.split(/[^\p{L}]+/u)
  return (byCode.find((language) => language) ?? languages.find((language) => words.includes(language.name.toLowerCase())))?.code ?? ''
}

/**
 * Decodes a caption file like the server: by its byte order mark, else UTF-8 if valid, else
 * Windows-1252.
 */
export function decodeCaptions(bytes: Uint8Array): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}
