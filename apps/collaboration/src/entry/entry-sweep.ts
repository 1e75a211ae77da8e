import { randomUUID } from 'node:crypto'
import { serviceCall } from '@vitascope/grpc'
import type { Logger } from '@vitascope/telemetry'
import type { Neighbours } from '../neighbour/standing.ts'
import type { EntryStore } from './entry-store.ts'

/** Removes entries whose video or user is gone, a part of the table at a time. Nobody sees them meanwhile. */
export interface EntrySweep {
  run(signal: AbortSignal): Promise<void>
}

/** As many as the neighbours are asked after at once. */
const PART = 1_000

/** What is gone never comes back: neither ids of videos nor those of users are given twice. A neighbour that is away says nothing. */
export function createEntrySweep(entries: EntryStore, { videos, users }: Neighbours, log: Logger): EntrySweep {
  let after = '0'
  return {
    async run(signal) {
      const part = await entries.grounds(after, PART)
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
      if (gone.length > 0) log.info({ entries: await entries.removeAll(gone) }, 'entries of videos or users that are gone were removed')
      after = part.length === PART ? (part.at(-1)?.collaborationId ?? '0') : '0'
    },
  }
}
