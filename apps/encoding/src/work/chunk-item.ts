import type { Query } from '@vitascope/postgres'
import { ChunkStanding } from '@vitascope/proto/encoding/v1/work'
import { keyOfJob } from '../job/job.ts'

/** The task of a chunk of the picture that is still to be made, whoever holds it. */
export async function openChunkItem(query: Query, jobId: string, chunk: number): Promise<string | undefined> {
  const [row] = await query<{ item_id: string }>(
    `select item_id from work_item where key = $1 and kind = 'encode' and state in ('waiting', 'leased') and (payload->>'chunk')::int = $2
     order by item_id limit 1`,
    [keyOfJob(jobId), chunk],
  )
  return row?.item_id
}

/** How a chunk stands that could not be leased; for who would take any of the job, how the job does. */
export async function chunkStanding(query: Query, jobId: string, chunk: number, orAnother: boolean): Promise<ChunkStanding> {
  const [row] = await query<{ is_waiting: boolean | null; fence: number | null }>(
    `select (select bool_or(state = 'waiting') from work_item where key = $1 and kind = 'encode' and state in ('waiting', 'leased')
         and ($4 or (payload->>'chunk')::int = $2)) as is_waiting,
       (select fence from chunk where job_id = $3 and chunk = $2) as fence`,
    [keyOfJob(jobId), chunk, jobId, orAnother],
  )
  if (typeof row?.is_waiting === 'boolean')
    return row.is_waiting || !orAnother ? ChunkStanding.CHUNK_STANDING_WAITING : ChunkStanding.CHUNK_STANDING_HELD
  return row?.fence ? ChunkStanding.CHUNK_STANDING_MADE : ChunkStanding.CHUNK_STANDING_OVER
}
