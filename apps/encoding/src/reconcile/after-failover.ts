import type { Client } from '@vitascope/grpc'
import { type Db, openFailover, settleFailover } from '@vitascope/postgres'
import type { JobServiceService } from '@vitascope/proto/catalogue/v1/job'
import type { Queue } from '@vitascope/queue'
import type { ObjectStorage } from '@vitascope/storage'
import type { Logger } from '@vitascope/telemetry'
import type { JobDesk } from '../job/accept-job.ts'
import { dropUnknownObjects, findMissingSets } from '../objects/unknown-objects.ts'
import { restartGuttedJobs } from './gutted-jobs.ts'
import { dropUnwantedJobs } from './unwanted-jobs.ts'

interface Tools {
  db: Db
  queue: Queue
  desk: JobDesk
  jobs: Client<typeof JobServiceService>
  storage: ObjectStorage
  log: Logger
  /** How long somebody may work on for the time that was lost. */
  graceMs: number
}

/** Names in a line of the log. */
const NAMED = 20

/**
 * Puts right what a lost tail of the database left behind: all at once when the failover is noticed, and once more when nobody can be at
 * work any more who does not know; that settles it. A process that dies in between begins anew.
 */
export function createAfterFailover(tools: Tools): (signal: AbortSignal) => Promise<void> {
  const { db, log, graceMs } = tools
  let lookedAt: string | undefined
  return async (signal) => {
    const open = await openFailover(db.query)
    if (!open) return
    const isLast = open.seconds * 1_000 >= graceMs
    if (!isLast && lookedAt === open.failoverId) return
    const begunAgain = await restartGuttedJobs(tools, signal)
    const unknown = await dropUnknownObjects(tools, signal)
    const missing = await findMissingSets(tools, signal)
    const unwanted = await askAboutAll(tools, signal)
    log.warn(
      {
        jobs_begun_again: begunAgain.length,
        prefixes_without_row: unknown.length,
        sets_without_objects: missing.length,
        unwanted_jobs: unwanted.length,
        settled: isLast,
        ...(begunAgain.length > 0 && { jobs: begunAgain.slice(0, NAMED) }),
        ...(unknown.length > 0 && { unknown: unknown.slice(0, NAMED) }),
        ...(missing.length > 0 && { missing: missing.slice(0, NAMED) }),
      },
      'after a failover of the database: jobs and objects were looked through',
    )
    lookedAt = open.failoverId
    if (isLast) await settleFailover(db.query, open)
  }
}

/** A catalogue that is away is asked by the reconciler, by and by. */
async function askAboutAll(tools: Tools, signal: AbortSignal): Promise<string[]> {
  try {
    return await dropUnwantedJobs({ ...tools, calls: Number.POSITIVE_INFINITY }, signal)
  } catch (error) {
    if (signal.aborted) throw error
    tools.log.warn({ err: error }, 'after a failover of the database: whether all jobs are wanted is asked later')
    return []
  }
}
