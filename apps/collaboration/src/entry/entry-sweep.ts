import { randomUUID } from 'node:crypto'
import { serviceCall } from '@vitascope/grpc'
import type { Logger } from '@vitascope/telemetry'
import type { Clients } from '../clients/resolve-references.ts'
import type { EntryStore } from './entry-store.ts'

/** Removes entries whose video or user was deleted, in parts. Such entries are already hidden from callers. */
export interface EntrySweep {
  run(signal: AbortSignal): Promise<void>
}

/** Maximum number of ids per call to the catalogue and auth. */
const PART = 1_000

/**
 * Creates the sweep. Ids of videos and users are never reused, so a missing one stays missing. If a
 * service is unavailable, the run fails and removes nothing.
 */
export function createEntrySweep(entries: EntryStore, { videos, users }: Clients, log: Logger): EntrySweep {
  let after = '0'
  return {
    async run(signal) {
      const part = await entries.references(after, PART)
      const call = serviceCall('collaboration', randomUUID(), signal)
      const [knownVideos, knownUsers] = await Promise.all([
        videos.find(
          part.map(({ videoId }) => videoId),
          call,
        ),
        users.find(
          part.map(({ userId }) => userId),
          call,
        ),
      ])
      const gone = part.filter(({ videoId, userId }) => !knownVideos.has(videoId) || (userId !== '' && !knownUsers.has(userId)))
      if (gone.length > 0) log.info({ entries: await entries.removeAll(gone) }, 'removed entries of deleted videos and users')
      after = part.length === PART ? (part.at(-1)?.collaborationId ?? '0') : '0'
    },
  }
}
