import { randomUUID } from 'node:crypto'
import { type Client, serviceCall } from '@vitascope/grpc'
import type { Db } from '@vitascope/postgres'
import type { JobServiceService } from '@vitascope/proto/catalogue/v1/job'
import type { ObjectStorage } from '@vitascope/storage'
import type { Logger } from '@vitascope/telemetry'
import { type DroppedPrefix, duePrefixes, isOfSet, postponeSweep, sweptPrefix } from './object-prefix.ts'

const PREFIXES_A_PASS = 500
/** A set that was given up here and plays all the same is asked about again. */
const PLAYED_SECONDS = 600

interface Tools {
  db: Db
  jobs: Pick<Client<typeof JobServiceService>, 'checkSets'>
  storage: ObjectStorage
  log: Logger
  forMs: number
}

/**
 * Removes the objects that are no longer wanted, for so long and then in the next pass; a prefix that fails is due again in a minute. Of sets
 * the catalogue is asked first: where one of the two databases went back in time, what was given up here may play there.
 */
export async function sweepObjects(tools: Tools, signal: AbortSignal): Promise<void> {
  const { db, storage, log, forMs } = tools
  const until = performance.now() + forMs
  const due = await duePrefixes(db.query, PREFIXES_A_PASS)
  const played = await playedOf(tools, due, signal)
  for (const { prefix } of due) {
    if (performance.now() > until) return
    try {
      if (isOfSet(prefix) && (!played || played.has(prefix))) {
        if (played) log.info({ prefix }, 'objects that were given up play: they stay as long as they do')
        await postponeSweep(db.query, prefix, played ? PLAYED_SECONDS : undefined)
        continue
      }
      const count = await storage.deletePrefix(prefix, signal)
      await sweptPrefix(db.query, prefix)
      if (count > 0) log.info({ prefix, count }, 'removed objects that are not wanted')
    } catch (error) {
      if (signal.aborted) return
      log.warn({ err: error, prefix }, 'objects could not be removed')
      await postponeSweep(db.query, prefix)
    }
  }
}

/** Undefined where it cannot be known. */
async function playedOf({ jobs, log }: Tools, due: readonly DroppedPrefix[], signal: AbortSignal): Promise<Set<string> | undefined> {
  const jobIds = [...new Set(due.filter(({ prefix }) => isOfSet(prefix)).map(({ jobId }) => jobId))]
  if (jobIds.length === 0) return new Set()
  try {
    const { usedPrefixes } = await jobs.checkSets({ jobIds }, serviceCall('encoding', randomUUID(), signal))
    return new Set(usedPrefixes)
  } catch (error) {
    if (!signal.aborted) log.warn({ err: error }, 'whether sets play is not known: none is removed now')
    return undefined
  }
}
