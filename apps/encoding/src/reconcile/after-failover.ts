import type { Client } from '@vitascope/grpc'
import { type Db, findOpenFailover, settleFailover } from '@vitascope/postgres'
import type { JobServiceService } from '@vitascope/proto/catalogue/v1/job'
import type { Queue } from '@vitascope/queue'
import type { ObjectStorage } from '@vitascope/storage'
import type { Logger } from '@vitascope/telemetry'
import type { JobCommands } from '../engine/accept-job.ts'
import { dropUnrecordedObjects, findMissingSets } from '../objects/unrecorded-objects.ts'
import { restartJobsWithMissingObjects } from './jobs-with-missing-objects.ts'
import { removeUnneededJobs } from './unneeded-jobs.ts'

interface Tools {
  db: Db
  queue: Queue
  jobCommands: JobCommands
  jobs: Client<typeof JobServiceService>
  storage: ObjectStorage
  log: Logger
  /** Time after a failover in which processes may still use lost state. */
  graceMs: number
}

/** Maximum number of names in a log line. */
const MAX_LOGGED_NAMES = 20

/**
 * Returns a function to be called periodically. It repairs the effects of lost transactions after a
 * failover: once when it is detected, and again after `graceMs`, when no process uses lost state any
 * more. The second pass settles the failover. If this process dies before it, the repair starts
 * again.
 */
export function createAfterFailover(tools: Tools): (signal: AbortSignal) => Promise<void> {
  const { db, log, graceMs } = tools
  let checkedFailoverId: string | undefined
  return async (signal) => {
    const open = await findOpenFailover(db.query)
    if (!open) return
    const isLast = open.seconds * 1_000 >= graceMs
    if (!isLast && checkedFailoverId === open.failoverId) return
    const restarted = await restartJobsWithMissingObjects(tools, signal)
    const unrecorded = await dropUnrecordedObjects(tools, signal)
    const missing = await findMissingSets(tools, signal)
    const unneeded = await checkAllJobs(tools, signal)
    log.warn(
      {
        jobs_restarted: restarted.length,
        prefixes_without_row: unrecorded.length,
        sets_without_objects: missing.length,
        unneeded_jobs: unneeded.length,
        settled: isLast,
        ...(restarted.length > 0 && { jobs: restarted.slice(0, MAX_LOGGED_NAMES) }),
        ...(unrecorded.length > 0 && { unrecorded: unrecorded.slice(0, MAX_LOGGED_NAMES) }),
        ...(missing.length > 0 && { missing: missing.slice(0, MAX_LOGGED_NAMES) }),
      },
      'database failover: jobs and objects checked',
    )
    checkedFailoverId = open.failoverId
    if (isLast) await settleFailover(db.query, open)
  }
}

/**
 * Checks all jobs with the catalogue. If it is unavailable, the reconciler checks them gradually.
 */
async function checkAllJobs(tools: Tools, signal: AbortSignal): Promise<string[]> {
  try {
    return await removeUnneededJobs({ ...tools, calls: Number.POSITIVE_INFINITY }, signal)
  } catch (error) {
    if (signal.aborted) throw error
    tools.log.warn({ err: error }, 'database failover: checking jobs with the catalogue failed; retrying later')
    return []
  }
}
