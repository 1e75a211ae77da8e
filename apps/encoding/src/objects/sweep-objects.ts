import type { Db } from '@vitascope/postgres'
import type { ObjectStorage } from '@vitascope/storage'
import type { Logger } from '@vitascope/telemetry'
import { duePrefixes, postponeSweep, sweptPrefix } from './object-prefix.ts'

const PREFIXES_A_PASS = 500

/** Removes the objects that are no longer wanted, for so long and then in the next pass; a prefix that fails is due again in a minute. */
export async function sweepObjects(
  tools: { db: Db; storage: ObjectStorage; log: Logger; forMs: number },
  signal: AbortSignal,
): Promise<void> {
  const { db, storage, log, forMs } = tools
  const until = performance.now() + forMs
  for (const prefix of await duePrefixes(db.query, PREFIXES_A_PASS)) {
    if (performance.now() > until) return
    try {
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
