import type { Notifications } from '@vitascope/postgres'
import type { WatchPublicChangesResponse } from '@vitascope/proto/catalogue/v1/video'

/** The PostgreSQL channel for changes of the data that guests see. Triggers notify it (ADR 0029). */
export const PUBLIC_CHANGED = 'vitascope_catalogue_public_changed'

/** Yields a message without ids as soon as the watch is active, then all changes. Throws CHANGES_LOST. */
export async function* watchPublicChanges(
  changes: Pick<Notifications, 'watch'>,
  signal: AbortSignal,
): AsyncGenerator<WatchPublicChangesResponse> {
  for await (const { payloads, completeUntilMs } of changes.watch(signal)) {
    yield { videoIds: readIds(payloads, 'videos '), organisationIds: readIds(payloads, 'organisations '), completeUntilMs }
  }
}

/** Returns the distinct ids of the payloads that start with a prefix, such as `videos 1,2,3`. */
function readIds(payloads: readonly string[], prefix: string): string[] {
  return [
    ...new Set(payloads.filter((payload) => payload.startsWith(prefix)).flatMap((payload) => payload.slice(prefix.length).split(','))),
  ]
}
