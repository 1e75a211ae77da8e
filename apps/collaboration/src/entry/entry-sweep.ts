import { randomUUID } from 'node:crypto'
import { serviceCall } from '@vitascope/grpc'
import type { Logger } from '@vitascope/telemetry'
import type { Clients } from '../clients/resolve-references.ts'
import type { EntryStore } from './entry-store.ts'

/** Deletes entries whose video or user was deleted. Such entries are already hidden from callers. */
export interface EntrySweep {
  run(signal: AbortSignal): Promise<void>
}

/** Number of entries per run. The catalogue and auth accept at most this number of ids per call. */
const BATCH_SIZE = 1_000

/**
 * Creates the sweep. Ids of videos and users are never reused, so a deleted one cannot exist again. If
 * a service is unavailable, the run fails and deletes nothing.
 */
export function createEntrySweep(entries: EntryStore, { videos, users }: Clients, log: Logger): EntrySweep {
  let after = '0'
  return {
    async run(signal) {
      const batch = await entries.listReferences(after, BATCH_SIZE)
      const call = serviceCall('collaboration', randomUUID(), signal)
      const [knownVideos, knownUsers] = await Promise.all([
        videos.find(
          batch.map(({ videoId }) => videoId),
          call,
        ),
        users.find(
          batch.map(({ userId }) => userId),
          call,
        ),
      ])
      const orphans = batch.filter(({ videoId, userId }) => !knownVideos.has(videoId) || (userId !== '' && !knownUsers.has(userId)))
      if (orphans.length > 0) log.info({ entries: await entries.removeAll(orphans) }, 'removed entries of deleted videos and users')
      after = batch.length === BATCH_SIZE ? (batch.at(-1)?.collaborationId ?? '0') : '0'
    },
  }
}
