import { encodePageToken, type PagePosition, type PageRequest, readIdToken, toPageSize } from '@vitascope/request'
import { type Entry, MAX_ENTRIES } from './entry.ts'

/** Number of rows per statement. Ten rows have at most 20 MB. */
const ROWS_PER_STATEMENT = 10
/** Maximum size of a page. A message has at most 4 MiB, and an entry at most about 1.9 MB. */
const MAX_BYTES = 3 * 1024 * 1024

/** Returns a page of entries ordered by id. It ends early if the entries would exceed one message. */
export async function readEntryPage(
  { pageSize, pageToken, skip }: PageRequest,
  read: (page: PagePosition) => Promise<Entry[]>,
  messageSize: (entry: Entry) => number,
): Promise<{ entries: Entry[]; nextPageToken: string }> {
  const size = toPageSize({ pageSize, skip }, MAX_ENTRIES)
  const entries: Entry[] = []
  let bytes = 0
  for (let page = { after: readIdToken(pageToken), limit: ROWS_PER_STATEMENT, skip }; ; ) {
    const rows = await read(page)
    for (const entry of rows) {
      bytes += messageSize(entry)
      const last = entries.at(-1)
      if (last && (entries.length === size || bytes > MAX_BYTES)) return { entries, nextPageToken: encodePageToken([last.collaborationId]) }
      entries.push(entry)
    }
    const last = rows.at(-1)
    if (!last || rows.length < ROWS_PER_STATEMENT) return { entries, nextPageToken: '' }
    page = { after: last.collaborationId, limit: ROWS_PER_STATEMENT, skip: 0 }
  }
}
