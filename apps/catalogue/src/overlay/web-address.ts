/** Browsers drop or bend these before they look for the scheme, so that `java<TAB>script:` runs. */
const BENT = /[\p{C}\p{Z}\\]/u

/**
 * What is wrong with an address that players put into a page; undefined for nothing, and for none at all. Only http and https may stand
 * there, and, with `paths`, an address without a scheme.
 */
export function webAddressProblem(address: string, { paths }: { paths: boolean }): string | undefined {
  if (address === '') return undefined
  if (BENT.test(address)) return 'must not contain white space, control characters or backslashes'
  if (paths && !/^[^/?#]*:/.test(address)) return undefined
  return /^https?:\/\/[^/?#]/i.test(address) && URL.canParse(address)
    ? undefined
    : `must be an http or https address${paths ? ', or a path' : ''}`
}
