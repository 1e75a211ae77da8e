import { int } from './fields.ts'

/** Far beyond any list, and safely an int32. */
export const greatestStart = 1_000_000_000

/** Query of lists that the document leaves without pages. */
export const pageQuery = {
  start: int({ min: 1, max: greatestStart }, { description: 'First row, from 1.' }).default(1),
  limit: int({ min: 1, max: 1_000 }, { description: 'Rows at most.' }).default(1_000),
}

/** What a list rpc is asked for. */
export interface PageRequest {
  pageSize: number
  pageToken: string
  skip: number
}

/**
 * `limit` rows of a list from row `start` on, asked for in parts of at most `part` rows: an answer of a service stays under 4 MiB.
 * `more` tells whether rows follow.
 */
export async function collectRows<Row>(
  { start, limit, part }: { start: number; limit: number; part: number },
  ask: (page: PageRequest) => Promise<{ rows: readonly Row[]; nextPageToken: string }>,
): Promise<{ rows: Row[]; more: boolean }> {
  const rows: Row[] = []
  let pageToken = ''
  do {
    const page = await ask({ pageSize: Math.min(part, limit - rows.length), pageToken, skip: pageToken === '' ? start - 1 : 0 })
    rows.push(...page.rows)
    pageToken = page.nextPageToken
  } while (pageToken !== '' && rows.length < limit)
  return { rows, more: pageToken !== '' }
}

/** The `Link` header that leads on from a part of a list, where more follows; `path` is below `/v2`. */
export function nextLink(
  publicUrl: string,
  path: string,
  { start, limit, more, query = {} }: { start: number; limit: number; more: boolean; query?: Readonly<Record<string, string>> },
): Readonly<Record<string, string>> {
  if (!more) return {}
  const search = new URLSearchParams({ ...query, start: String(start + limit), limit: String(limit) })
  return { Link: `<${publicUrl}/v2${path}?${search}>; rel="next"` }
}
