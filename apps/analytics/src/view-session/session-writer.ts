import { createBatcher } from '@vitascope/concurrency'
import { DomainError } from '@vitascope/errors'
import { createPartitions, type Db } from '@vitascope/postgres'
import { toDay } from '../view/day.ts'
import { SESSION_EVENTS, VIEW_SESSIONS } from '../view/partitions.ts'
import { addSessionEvents, type StoredSessionEvent } from '../view/session-event-store.ts'

/** Stores session events durably. Events of concurrent callers are stored in one statement. */
export interface SessionWriter {
  /** Resolves when all events are durable. Throws `unavailable` if they could not be stored. */
  add(events: readonly StoredSessionEvent[]): Promise<void>
  /** Resolves when all added events are durable or rejected. */
  close(): Promise<void>
}

/** Maximum number of events per insert. */
const MAX_EVENTS_PER_INSERT = 2_000
/** Maximum number of events that wait for an insert. */
const MAX_QUEUED = 10_000

/**
 * Creates a writer with group commit. It inserts one batch at a time, so that the maximum number of
 * events of a view is exact for one replica.
 */
export function createSessionWriter(db: Pick<Db, 'transaction'>): SessionWriter {
  const batcher = createBatcher<readonly StoredSessionEvent[]>({
    maxWeight: MAX_EVENTS_PER_INSERT,
    getWeight: (events) => events.length,
    maxQueued: MAX_QUEUED,
    rejection: () =>
      new DomainError('unavailable', 'SESSION_INTAKE_FULL', 'too many session events are waiting to be stored; try again', {
        retryAfter: 1,
      }),
    async write(queued) {
      const events = queued.flat()
      const days = [...new Set(events.map(({ atMs }) => toDay(atMs)))]
      await db.transaction(async (tx) => {
        await createPartitions(tx, VIEW_SESSIONS, days)
        await createPartitions(tx, SESSION_EVENTS, days)
        await addSessionEvents(tx.query, events)
      })
      return []
    },
  })
  return {
    async add(events) {
      if (events.length > 0) await batcher.add(events)
    },
    close: () => batcher.flush(),
  }
}
