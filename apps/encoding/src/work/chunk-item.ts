import type { Query } from '@vitascope/postgres'
import { ChunkState } from '@vitascope/proto/encoding/v1/work'
import { toQueueKey } from '../job/job.ts'

/** Returns the id of the waiting or leased task that encodes a chunk of video. */
export async function findOpenChunkItem(query: Query, jobId: string, chunk: number): Promise<string | undefined> {
  const [row] = await query<{ item_id: string }>(
    `select item_id from work_item where key = $1 and kind = 'encode' and state in ('waiting', 'leased') and (payload->>'chunk')::int = $2
     order by item_id limit 1`,
    [toQueueKey(jobId), chunk],
  )
  return row?.item_id
}

/**
 * Returns the state of a chunk that could not be leased. If `anyChunk` is true and the job has open
 * chunks, it is their common state: ALL_LEASED if all of them are leased, and otherwise WAITING.
 */
export async function readChunkState(query: Query, jobId: string, chunk: number, anyChunk: boolean): Promise<ChunkState> {
  const [row] = await query<{ is_waiting: boolean | null; fence: string | null }>(
    `select (select bool_or(state = 'waiting') from work_item where key = $1 and kind = 'encode' and state in ('waiting', 'leased')
         and ($4 or (payload->>'chunk')::int = $2)) as is_waiting,
       (select fence from chunk where job_id = $3 and chunk = $2) as fence`,
    [toQueueKey(jobId), chunk, jobId, anyChunk],
  )
  if (typeof row?.is_waiting === 'boolean')
    return row.is_waiting || !anyChunk ? ChunkState.CHUNK_STATE_WAITING : ChunkState.CHUNK_STATE_ALL_LEASED
  return Number(row?.fence ?? 0) > 0 ? ChunkState.CHUNK_STATE_DONE : ChunkState.CHUNK_STATE_OBSOLETE
}
