/**
 * Returns the name of a BCP 47 code in a language of the console. Extensions and private parts, such as those of `de-x-ad`,
 * have no name. The code is added to show them. Returns a text that is not a code as it is.
 */
export function languageName(code: string, displayLanguage: string): string {
  try {
    const { baseName } = new Intl.Locale(code)
    const name = new Intl.DisplayNames([displayLanguage], { type: 'language', fallback: 'code' }).of(baseName) ?? code
    return baseName === code ? name : `${name} (${code})`
  } catch (error) {
    if (error instanceof RangeError) return code
    throw error
  }
}
