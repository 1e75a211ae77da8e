import { invalid } from '@vitascope/errors'
import { decodePageToken, encodePageToken, isId } from '@vitascope/postgres'
import { type Entry, MAX_ENTRIES } from './entry.ts'

/** The paging fields of a list request. */
export interface PageRequest {
  /** Rows per page; 0 selects the maximum. */
  pageSize: number
  pageToken: string
  skip: number
}

/** Rows per statement, at most 20 MB. */
const PART = 10
/** Messages are limited to 4 MiB. One entry has at most about 1.9 MB and always fits. */
const MAX_BYTES = 3 * 1024 * 1024

/** Returns a page of entries ordered by id. It ends early if the entries would exceed one message. */
export async function readEntryPage(
  { pageSize, pageToken, skip }: PageRequest,
  read: (place: { after: string; limit: number; skip: number }) => Promise<Entry[]>,
  messageSize: (entry: Entry) => number,
): Promise<{ entries: Entry[]; nextPageToken: string }> {
  const problems = [
    ...(skip < 0 ? [{ field: 'skip', message: 'must not be negative' }] : []),
    ...(pageSize < 0 ? [{ field: 'page_size', message: 'must not be negative' }] : []),
  ]
  if (problems.length > 0) throw invalid(problems)
  const size = pageSize === 0 ? MAX_ENTRIES : Math.min(pageSize, MAX_ENTRIES)
  const entries: Entry[] = []
  let bytes = 0
  for (let place = { after: readToken(pageToken), limit: PART, skip }; ; ) {
    const part = await read(place)
    for (const entry of part) {
      bytes += messageSize(entry)
      const last = entries.at(-1)
      if (last && (entries.length === size || bytes > MAX_BYTES)) return { entries, nextPageToken: encodePageToken([last.collaborationId]) }
      entries.push(entry)
    }
    const last = part.at(-1)
    if (!last || part.length < PART) return { entries, nextPageToken: '' }
    place = { after: last.collaborationId, limit: PART, skip: 0 }
  }
}

function readToken(token: string): string {
  const [id = '0'] = decodePageToken(token, 1) ?? []
  if (id !== '0' && !isId(id)) throw invalid([{ field: 'page_token', message: 'is not a cursor of this list' }])
  return id
}
