import { invalid } from '@vitascope/errors'

/** The sort values of the last row of a page, as an opaque text. */
export function encodePageToken(values: readonly (string | null)[]): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url')
}

/** The values of a token made for `count` sort columns; undefined for the first page; refuses anything else. */
export function decodePageToken(token: string, count: number): string[] | undefined {
  if (token === '') return undefined
  try {
    const values: unknown = JSON.parse(Buffer.from(token, 'base64url').toString('utf8'))
    if (Array.isArray(values) && values.length === count && values.every((v) => typeof v === 'string')) return values
  } catch {
    // Falls through to the refusal: a token is ours or it is nothing.
  }
  throw invalid([{ field: 'page_token', message: 'is not one that a list answered' }])
}
