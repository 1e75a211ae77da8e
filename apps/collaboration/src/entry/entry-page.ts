import { invalid } from '@vitascope/errors'
import { decodePageToken, encodePageToken, isId } from '@vitascope/postgres'
import { type Entry, MOST_ENTRIES } from './entry.ts'

/** What a list rpc is asked for. */
export interface PageRequest {
  /** 0 for the most. */
  pageSize: number
  pageToken: string
  skip: number
}

/** Rows of one statement: 20 MB of them at the very most. */
const PART = 10
/** A message holds 4 MiB; one entry, at most some 1.9 MB, always fits. */
const MOST_BYTES = 3 * 1024 * 1024

/** A page of entries by their ids that ends before it is too large for one message. */
export async function readEntryPage(
  { pageSize, pageToken, skip }: PageRequest,
  read: (place: { after: string; limit: number; skip: number }) => Promise<Entry[]>,
  weigh: (entry: Entry) => number,
): Promise<{ entries: Entry[]; nextPageToken: string }> {
  const problems = [
    ...(skip < 0 ? [{ field: 'start', message: 'must not be negative' }] : []),
    ...(pageSize < 0 ? [{ field: 'limit', message: 'must not be negative' }] : []),
  ]
  if (problems.length > 0) throw invalid(problems)
  const size = pageSize === 0 ? MOST_ENTRIES : Math.min(pageSize, MOST_ENTRIES)
  const entries: Entry[] = []
  let bytes = 0
  for (let place = { after: readToken(pageToken), limit: PART, skip }; ; ) {
    const part = await read(place)
    for (const entry of part) {
      bytes += weigh(entry)
      const last = entries.at(-1)
      if (last && (entries.length === size || bytes > MOST_BYTES))
        return { entries, nextPageToken: encodePageToken([last.collaborationId]) }
      entries.push(entry)
    }
    const last = part.at(-1)
    if (!last || part.length < PART) return { entries, nextPageToken: '' }
    place = { after: last.collaborationId, limit: PART, skip: 0 }
  }
}

function readToken(token: string): string {
  const [id = '0'] = decodePageToken(token, 1) ?? []
  if (id !== '0' && !isId(id)) throw invalid([{ field: 'page_token', message: 'is not one that this list answered' }])
  return id
}
