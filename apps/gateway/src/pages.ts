import { invalid } from '@vitascope/errors'
import { int, text } from './fields.ts'
import { withPublicNames } from './public-names.ts'

/** Far beyond any list, and safely an int32. */
const greatestStart = 1_000_000_000
/** Rows are counted over until the first one; a cursor finds its place at once. */
const greatestStartWithoutCursor = 10_000

/** From where a list goes on. */
export const placeQuery = {
  start: int({ min: 1, max: greatestStart }, { description: 'First row, from 1; beyond 10,000 follow the `Link` header.' }).default(1),
  cursor: text(8_000, { min: 1 }, { description: 'As the `Link` header has it: the place of `start`, found at once.' }).optional(),
}

/** Query of lists that the document leaves without pages. */
export const pageQuery = {
  ...placeQuery,
  limit: int({ min: 1, max: 1_000 }, { description: 'Rows at most.' }).default(1_000),
}

/** Where an rpc goes on from: the cursor's place, else so many rows passed over. */
export function placeOf({ start, cursor }: { start: number; cursor?: string | undefined }): Pick<PageRequest, 'pageToken' | 'skip'> {
  if (cursor !== undefined) return { pageToken: cursor, skip: 0 }
  if (start <= greatestStartWithoutCursor) return { pageToken: '', skip: start - 1 }
  const message = `must be at most ${greatestStartWithoutCursor}: the Link header of a page leads on from there`
  throw invalid([{ field: 'start', message }])
}

/** What a list rpc is asked for. */
export interface PageRequest {
  pageSize: number
  pageToken: string
  skip: number
}

/**
 * `limit` rows of a list from row `start` on, asked for in parts of at most `part` rows: an answer of a service stays under 4 MiB.
 * `more` is the cursor of what follows, empty where nothing does.
 */
export async function collectRows<Row>(
  { start, cursor, limit, part }: { start: number; cursor?: string | undefined; limit: number; part: number },
  ask: (page: PageRequest) => Promise<{ rows: readonly Row[]; nextPageToken: string }>,
): Promise<{ rows: Row[]; more: string }> {
  const rows: Row[] = []
  let place = placeOf({ start, cursor })
  do {
    const page = await withPublicNames(placeNames, ask({ pageSize: Math.min(part, limit - rows.length), ...place }))
    rows.push(...page.rows)
    place = { pageToken: page.nextPageToken, skip: 0 }
  } while (place.pageToken !== '' && rows.length < limit)
  return { rows, more: place.pageToken }
}

/** What a service calls the cursor. */
export const placeNames = { page_token: 'cursor' }

/** The `Link` header that leads on from a part of a list, where more follows by a cursor; `path` is below `/v2`. */
export function nextLink(
  publicUrl: string,
  path: string,
  { start, limit, more, query = {} }: { start: number; limit: number; more: string; query?: Readonly<Record<string, string | undefined>> },
): Readonly<Record<string, string>> {
  if (more === '') return {}
  const narrowed = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const place = Object.entries({ start: String(start + limit), limit: String(limit), cursor: more })
  const search = new URLSearchParams([...narrowed, ...place])
  return { Link: `<${publicUrl}/v2${path}?${search}>; rel="next"` }
}
