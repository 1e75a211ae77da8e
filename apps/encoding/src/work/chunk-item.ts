import type { Query } from '@vitascope/postgres'
import { ChunkStanding } from '@vitascope/proto/encoding/v1/work'
import { keyOfJob } from '../job/job.ts'

const OPEN = `key = $1 and kind = 'encode' and state in ('waiting', 'leased') and (payload->>'chunk')::int = $2`

/** The task of a chunk of the picture that is still to be made, whoever holds it. */
export async function openChunkItem(query: Query, jobId: string, chunk: number): Promise<string | undefined> {
  const [row] = await query<{ item_id: string }>(`select item_id from work_item where ${OPEN} order by item_id limit 1`, [
    keyOfJob(jobId),
    chunk,
  ])
  return row?.item_id
}

/** How a chunk stands that could not be leased. */
export async function chunkStanding(query: Query, jobId: string, chunk: number): Promise<ChunkStanding> {
  const [row] = await query<{ is_open: boolean; fence: number | null }>(
    `select exists (select from work_item where ${OPEN}) as is_open, (select fence from chunk where job_id = $3 and chunk = $2) as fence`,
    [keyOfJob(jobId), chunk, jobId],
  )
  if (row?.is_open) return ChunkStanding.CHUNK_STANDING_WAITING
  return row?.fence ? ChunkStanding.CHUNK_STANDING_MADE : ChunkStanding.CHUNK_STANDING_OVER
}
