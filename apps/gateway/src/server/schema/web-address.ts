import type { z } from 'zod'
import { type FieldDocs, text } from './fields.ts'

/**
 * Browsers remove or normalise these before they parse the scheme, so that `java<TAB>script:` would
 * run.
 */
const NORMALISED_BY_BROWSERS = /[\p{C}\p{Z}\\]/u

/**
 * A URL that players put into a page: http or https, and with `paths` also a URL without a scheme.
 * Empty for none.
 */
export function webAddress(max: number, { paths }: { paths: boolean }, docs: FieldDocs): z.ZodType<string> {
  return text(max, {}, docs).superRefine((address, context) => {
    const message = describeProblem(address, paths)
    if (message !== undefined) context.addIssue({ code: 'custom', message, input: address })
  })
}

function describeProblem(address: string, paths: boolean): string | undefined {
  if (address === '') return undefined
  if (NORMALISED_BY_BROWSERS.test(address)) return 'must not contain white space, control characters or backslashes'
  if (paths && !/^[^/?#]*:/.test(address)) return undefined
  return /^https?:\/\/[^/?#]/i.test(address) && URL.canParse(address)
    ? undefined
    : `must be an http or https URL${paths ? ', or a path' : ''}`
}
