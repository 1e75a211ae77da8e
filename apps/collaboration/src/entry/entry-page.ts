import { encodePageToken, type PagePosition, type PageRequest, pageSizeOf, readIdToken } from '@vitascope/request'
import { type Entry, MAX_ENTRIES } from './entry.ts'

/** Rows per statement. They have at most 20 MB. */
const ROWS_PER_STATEMENT = 10
/** Messages are limited to 4 MiB. One entry has at most about 1.9 MB and always fits. */
const MAX_BYTES = 3 * 1024 * 1024

/** Returns a page of entries ordered by id. It ends early if the entries would exceed one message. */
export async function readEntryPage(
  { pageSize, pageToken, skip }: PageRequest,
  read: (place: PagePosition) => Promise<Entry[]>,
  messageSize: (entry: Entry) => number,
): Promise<{ entries: Entry[]; nextPageToken: string }> {
  const size = pageSizeOf({ pageSize, skip }, MAX_ENTRIES)
  const entries: Entry[] = []
  let bytes = 0
  for (let place = { after: readIdToken(pageToken), limit: ROWS_PER_STATEMENT, skip }; ; ) {
    const rows = await read(place)
    for (const entry of rows) {
      bytes += messageSize(entry)
      const last = entries.at(-1)
      if (last && (entries.length === size || bytes > MAX_BYTES)) return { entries, nextPageToken: encodePageToken([last.collaborationId]) }
      entries.push(entry)
    }
    const last = rows.at(-1)
    if (!last || rows.length < ROWS_PER_STATEMENT) return { entries, nextPageToken: '' }
    place = { after: last.collaborationId, limit: ROWS_PER_STATEMENT, skip: 0 }
  }
}
