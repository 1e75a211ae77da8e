/** Browsers remove or rewrite these characters before they parse a URL, so `java<TAB>script:` would run. */
const UNSAFE_CHARACTERS = /[\p{C}\p{Z}\\]/u

/**
 * Returns the problem of an address that players insert into a page, or undefined if the address is
 * valid or empty. Only http and https URLs are allowed. If `paths` is set, paths are allowed too.
 */
export function findAddressProblem(address: string, { paths }: { paths: boolean }): string | undefined {
  if (address === '') return undefined
  if (UNSAFE_CHARACTERS.test(address)) return 'must not contain white space, control characters or backslashes'
  if (paths && !/^[^/?#]*:/.test(address)) return undefined
  return /^https?:\/\/[^/?#]/i.test(address) && URL.canParse(address)
    ? undefined
    : `must be an http or https URL${paths ? ', or a path' : ''}`
}
