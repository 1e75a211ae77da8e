import { invalid } from '@vitascope/errors'

/** Returns the sort values of the last row of a page as an opaque token. */
export function encodePageToken(values: readonly (string | null)[]): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url')
}

/**
 * Returns the values of a token for `count` sort columns, or undefined for the first page. Throws `invalid` for any
 * other text.
 */
export function decodePageToken(token: string, count: number): string[] | undefined {
  if (token === '') return undefined
  try {
    const values: unknown = JSON.parse(Buffer.from(token, 'base64url').toString('utf8'))
    if (Array.isArray(values) && values.length === count && values.every((v) => typeof v === 'string')) return values
  } catch {
    // Falls through to the throw below.
  }
  throw invalid([{ field: 'page_token', message: 'is not one that a list answered' }])
}
