import { randomUUID } from 'node:crypto'
import { type Client, serviceCall } from '@vitascope/grpc'
import type { Db } from '@vitascope/postgres'
import type { JobServiceService } from '@vitascope/proto/catalogue/v1/job'
import type { ObjectStorage } from '@vitascope/storage'
import type { Logger } from '@vitascope/telemetry'
import { type DroppedPrefix, duePrefixes, isOfSet, markPrefixSwept, postponeSweep } from './object-prefix.ts'

const MAX_PREFIXES_PER_PASS = 500
/** Delay before a dropped set that is still in use is checked again. */
const IN_USE_DELAY_SECONDS = 600

interface Tools {
  db: Db
  jobs: Pick<Client<typeof JobServiceService>, 'checkSets'>
  storage: ObjectStorage
  log: Logger
  timeLimitMs: number
}

/**
 * Deletes dropped objects for `timeLimitMs`, then continues in the next pass. A prefix that fails
 * is due again in a minute. Sets are checked with the catalogue first: after a restore of one of
 * the two databases, a set dropped here may still be in use there.
 */
export async function sweepObjects(tools: Tools, signal: AbortSignal): Promise<void> {
  const { db, storage, log, timeLimitMs } = tools
  const deadline = performance.now() + timeLimitMs
  const due = await duePrefixes(db.query, MAX_PREFIXES_PER_PASS)
  const inUse = await findPrefixesInUse(tools, due, signal)
  for (const { prefix, dueTime } of due) {
    if (performance.now() > deadline) return
    try {
      if (isOfSet(prefix) && (!inUse || inUse.has(prefix))) {
        if (inUse) log.info({ prefix }, 'dropped objects are still in use; keeping them')
        await postponeSweep(db.query, prefix, inUse ? IN_USE_DELAY_SECONDS : undefined)
        continue
      }
      const count = await storage.deletePrefix(prefix, signal)
      await markPrefixSwept(db.query, { prefix, dueTime })
      if (count > 0) log.info({ prefix, count }, 'removed unused objects')
    } catch (error) {
      if (signal.aborted) return
      log.warn({ err: error, prefix }, 'removing objects failed')
      await postponeSweep(db.query, prefix)
    }
  }
}

/** Returns the prefixes that are in use, or undefined if the catalogue is unavailable. */
async function findPrefixesInUse(
  { jobs, log }: Tools,
  due: readonly DroppedPrefix[],
  signal: AbortSignal,
): Promise<Set<string> | undefined> {
  const jobIds = [...new Set(due.filter(({ prefix }) => isOfSet(prefix)).map(({ jobId }) => jobId))]
  if (jobIds.length === 0) return new Set()
  try {
    const { usedPrefixes } = await jobs.checkSets({ jobIds }, serviceCall('encoding', randomUUID(), signal))
    return new Set(usedPrefixes)
  } catch (error) {
    if (!signal.aborted) log.warn({ err: error }, 'cannot check which sets are in use; skipping deletion')
    return undefined
  }
}
