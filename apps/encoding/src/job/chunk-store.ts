import type { Query, Transaction } from '@vitascope/postgres'
import type { ChunkFiles, StoredFile } from '../task/task.ts'

/** Rows per statement. A long video has tens of thousands of segments. */
const ROWS_PER_STATEMENT = 5_000

/**
 * Replaces the chunks of a job by those of its plan. `weights` are their expected CPU seconds.
 */
export async function insertChunks(tx: Transaction, jobId: string, weights: readonly number[]): Promise<void> {
  await removeChunks(tx, jobId)
  await tx.query('insert into chunk (job_id, chunk, weight) select $1, n - 1, w from unnest($2::float8[]) with ordinality as t (w, n)', [
    jobId,
    weights,
  ])
}

export async function removeChunks(tx: Transaction, jobId: string): Promise<void> {
  await removeAllSegments(tx, jobId)
  await tx.query('delete from chunk where job_id = $1', [jobId])
}

/** Removes the segments of all chunks of a job. They are only read until the job has ended and its set is played. */
export async function removeAllSegments(tx: Transaction, jobId: string): Promise<void> {
  await tx.query('delete from segment where job_id = $1', [jobId])
}

/**
 * Raises the progress of a chunk, 0 to 1. Returns the progress of the chunks of the job together,
 * weighted by their expected CPU time, 0 to 1.
 */
export async function raiseChunkProgress(query: Query, jobId: string, chunk: number, done: number): Promise<number> {
  await query('update chunk set done = $3::float8 where job_id = $1 and chunk = $2 and done < $3::float8 and fence = 0', [
    jobId,
    chunk,
    Math.min(1, done),
  ])
  const [row] = await query<{ done: number | null }>(
    'select sum(done * weight) / nullif(sum(weight), 0) as done from chunk where job_id = $1',
    [jobId],
  )
  return row?.done ?? 0
}

/** Records the result of a chunk under its lease. */
export async function recordChunk(
  tx: Transaction,
  result: { jobId: string; chunk: number; fence: number; prefix: string; list: string; files: readonly StoredFile[] },
): Promise<void> {
  const { jobId, chunk, fence, prefix, list, files } = result
  await tx.query('update chunk set done = 1, fence = $3, prefix = $4, list = $5, end_time = now() where job_id = $1 and chunk = $2', [
    jobId,
    chunk,
    fence,
    prefix,
    list,
  ])
  await tx.query('delete from segment where job_id = $1 and chunk = $2', [jobId, chunk])
  await insertSegments(tx, jobId, chunk, files)
}

async function insertSegments(tx: Transaction, jobId: string, chunk: number, files: readonly StoredFile[]): Promise<void> {
  for (let from = 0; from < files.length; from += ROWS_PER_STATEMENT) {
    await tx.query(
      `insert into segment (job_id, chunk, path, bytes, sha256, seconds)
       select $1, $2, path, bytes, sha256, coalesce(seconds, 0)
       from json_to_recordset($3::json) as s (path text, bytes bigint, sha256 text, seconds float8)
       on conflict (job_id, chunk, path) do nothing`,
      [jobId, chunk, JSON.stringify(files.slice(from, from + ROWS_PER_STATEMENT))],
    )
  }
}

/**
 * Records the segments that a lease has made so far, so that they can be played before the chunk is
 * complete.
 */
export async function addSegments(
  tx: Transaction,
  segments: { jobId: string; chunk: number; prefix: string; files: readonly StoredFile[] },
): Promise<void> {
  const { jobId, chunk, prefix, files } = segments
  await tx.query('update chunk set prefix = $3 where job_id = $1 and chunk = $2 and prefix is distinct from $3', [jobId, chunk, prefix])
  await insertSegments(tx, jobId, chunk, files)
}

/** Removes the segments of a lease that ended without a result. */
export async function removeSegments(tx: Transaction, jobId: string, chunk: number): Promise<void> {
  const reset = await tx.query(
    'update chunk set prefix = null where job_id = $1 and chunk = $2 and fence = 0 and prefix is not null returning 1',
    [jobId, chunk],
  )
  if (reset.length > 0) await tx.query('delete from segment where job_id = $1 and chunk = $2', [jobId, chunk])
}

/**
 * Returns the number of faults of a chunk. `faults` does not include the `storageFaults`, which the
 * storage caused.
 */
export async function readChunkFaults(tx: Transaction, jobId: string, chunk: number): Promise<{ faults: number; storageFaults: number }> {
  const [row] = await tx.query<{ faults: number; storageFaults: number }>(
    'select faults, storage_faults as "storageFaults" from chunk where job_id = $1 and chunk = $2',
    [jobId, chunk],
  )
  return row ?? { faults: 0, storageFaults: 0 }
}

export async function countChunkFault(tx: Transaction, jobId: string, chunk: number, isStorageFault: boolean): Promise<void> {
  await tx.query(
    'update chunk set faults = faults + (not $3)::int, storage_faults = storage_faults + $3::bool::int where job_id = $1 and chunk = $2',
    [jobId, chunk, isStorageFault],
  )
}

/** Returns the total bytes of the recorded segments of a job. */
export async function sumChunkBytes(tx: Transaction, jobId: string): Promise<number> {
  const [row] = await tx.query<{ bytes: string }>('select coalesce(sum(bytes), 0) as bytes from segment where job_id = $1', [jobId])
  return Number(row?.bytes ?? 0)
}

export async function areAllChunksDone(tx: Transaction, jobId: string): Promise<boolean> {
  const [row] = await tx.query<{ all: boolean | null }>('select bool_and(fence > 0) as all from chunk where job_id = $1', [jobId])
  return row?.all ?? false
}

/**
 * Removes the results of all chunks. Returns each chunk with the fence of the lease that encoded
 * it. The fence is 0 if the chunk is not encoded.
 */
export async function resetChunks(tx: Transaction, jobId: string): Promise<{ chunk: number; fence: number }[]> {
  const chunks = await tx.query<{ chunk: number; fence: string }>('select chunk, fence from chunk where job_id = $1 order by chunk', [
    jobId,
  ])
  await removeAllSegments(tx, jobId)
  await tx.query('update chunk set done = 0, fence = 0, prefix = null, list = null where job_id = $1', [jobId])
  return chunks.map(({ chunk, fence }) => ({ chunk, fence: Number(fence) }))
}

export function readChunks(query: Query, jobId: string): Promise<ChunkFiles[]> {
  return query<ChunkFiles>('select chunk, prefix, list from chunk where job_id = $1 and fence > 0 order by chunk', [jobId])
}
