import type { Db } from '@vitascope/postgres'
import type { ObjectStorage } from '@vitascope/storage'
import type { Logger } from '@vitascope/telemetry'
import { duePrefixes, sweptPrefix } from './object-prefix.ts'

const PREFIXES_A_PASS = 500

/** Removes the objects that are no longer wanted; a prefix that fails stays due. */
export async function sweepObjects(tools: { db: Db; storage: ObjectStorage; log: Logger }, signal: AbortSignal): Promise<void> {
  const { db, storage, log } = tools
  for (const prefix of await duePrefixes(db.query, PREFIXES_A_PASS)) {
    try {
      const count = await storage.deletePrefix(prefix, signal)
      await sweptPrefix(db.query, prefix)
      if (count > 0) log.info({ prefix, count }, 'removed objects that are not wanted')
    } catch (error) {
      if (signal.aborted) return
      log.warn({ err: error, prefix }, 'objects could not be removed')
    }
  }
}
