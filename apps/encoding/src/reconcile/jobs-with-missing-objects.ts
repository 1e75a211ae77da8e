import type { Db, Query } from '@vitascope/postgres'
import type { Queue } from '@vitascope/queue'
import type { ObjectStorage } from '@vitascope/storage'
import { replanJob } from '../engine/replan-job.ts'
import { ACTIVE_STATES, isActive, type Job } from '../job/job.ts'
import { lockJob, readJob, updateJob } from '../job/job-store.ts'
import { checkFiles, StoredFilesMismatch } from '../task/file-list.ts'
import type { StoredFile } from '../task/task.ts'

/**
 * Restarts active jobs whose source or segments are missing in storage. Such a job had ended in a
 * lost transaction, and its objects were deleted. The restart does not count as an attempt, because
 * it is not a fault of the job. Returns the ids of the restarted jobs.
 */
export async function restartJobsWithMissingObjects(
  { db, queue, storage }: { db: Db; queue: Queue; storage: ObjectStorage },
  signal: AbortSignal,
): Promise<string[]> {
  const restarted: string[] = []
  const rows = await db.query<{ job_id: string }>(
    `select job_id from job where state = any($1) and kind not in ('slides', 'poster') and source is not null order by job_id`,
    [ACTIVE_STATES],
  )
  for (const { job_id: jobId } of rows) {
    const job = await readJob(db.query, jobId)
    if (!job || (await hasAllObjects(db.query, storage, job, signal))) continue
    await db.transaction(async (tx) => {
      const current = await lockJob(tx, jobId)
      // The job has ended, or has another source by now.
      if (!current || !isActive(current.state) || current.source?.object !== job.source?.object) return
      await updateJob(tx, jobId, { state: 'queued' })
      await replanJob(tx, queue, current)
      restarted.push(jobId)
    }, signal)
  }
  return restarted
}

async function hasAllObjects(query: Query, storage: ObjectStorage, { jobId, source }: Job, signal: AbortSignal): Promise<boolean> {
  try {
    if (source && (await storage.stat(source.object, signal))?.bytes !== source.bytes) return false
    const chunks = await query<{ chunk: number; prefix: string }>(
      'select chunk, prefix from chunk where job_id = $1 and prefix is not null order by chunk',
      [jobId],
    )
    for (const { chunk, prefix } of chunks) {
      const files = await query<StoredFile>('select path, bytes::float8 as bytes, sha256 from segment where job_id = $1 and chunk = $2', [
        jobId,
        chunk,
      ])
      await checkFiles(storage, prefix, files, signal)
    }
    return true
  } catch (error) {
    if (error instanceof StoredFilesMismatch) return false
    throw error
  }
}
