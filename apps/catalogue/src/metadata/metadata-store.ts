import type { Call } from '@vitascope/grpc'
import { type Db, jsonCodec, type Transaction, withIdempotency } from '@vitascope/postgres'
import { lockVideo, recordChange, type VideoKey } from '../publishing/media/video-lock.ts'
import type { MetadataEntry } from './metadata.ts'

export interface MetadataStore {
  /** Locks the video, stores the entries that `change` returns, and returns the update time. Throws VIDEO_NOT_FOUND. */
  change(
    key: VideoKey,
    byUserId: string,
    change: (current: readonly MetadataEntry[]) => MetadataEntry[],
    call: Pick<Call, 'idempotency' | 'signal'>,
  ): Promise<Date>
}

/**
 * SQL for the entries of a video `v` as one JSON column, ordered by name. Null if the video has no
 * entries.
 */
export const METADATA_ENTRIES = `(select jsonb_agg(jsonb_build_object('name', e.name, 'value', e.value, 'private', e.private,
      'readOnly', e.read_only) order by e.name) from metadata_entry e where e.video_id = v.video_id)`

export function createMetadataStore(db: Db): MetadataStore {
  return {
    async change(key, byUserId, change, call) {
      const updatedAtMs = await withIdempotency(db, call, jsonCodec<number>(), async (tx) => {
        const { videoId } = await lockVideo(tx, key)
        const current = await readEntries(tx, videoId)
        await saveEntries(tx, videoId, current, change(current))
        return (await recordChange(tx, videoId, byUserId)).getTime()
      })
      return new Date(updatedAtMs)
    },
  }
}

interface Row {
  name: string
  value: string
  private: boolean
  read_only: boolean
}

async function readEntries(tx: Transaction, videoId: string): Promise<MetadataEntry[]> {
  const rows = await tx.query<Row>('select name, value, private, read_only from metadata_entry where video_id = $1 order by name', [
    videoId,
  ])
  return rows.map((row) => ({ name: row.name, value: row.value, private: row.private, readOnly: row.read_only }))
}

/** Writes only the differences, so that the update time of unchanged entries stays. */
async function saveEntries(tx: Transaction, videoId: string, before: readonly MetadataEntry[], after: readonly MetadataEntry[]) {
  const remainingNames = new Set(after.map(({ name }) => name))
  const removed = before.filter(({ name }) => !remainingNames.has(name)).map(({ name }) => name)
  const changed = after.filter((entry) => !before.includes(entry))
  if (removed.length > 0) await tx.query('delete from metadata_entry where video_id = $1 and name = any ($2)', [videoId, removed])
  if (changed.length === 0) return
  await tx.query(
    `insert into metadata_entry (video_id, name, value, private, read_only)
     select $1, * from unnest($2::text[], $3::text[], $4::boolean[], $5::boolean[])
     on conflict (video_id, name) do update
       set value = excluded.value, private = excluded.private, read_only = excluded.read_only, update_time = now()`,
    [
      videoId,
      changed.map(({ name }) => name),
      changed.map(({ value }) => value),
      changed.map((entry) => entry.private),
      changed.map(({ readOnly }) => readOnly),
    ],
  )
}
