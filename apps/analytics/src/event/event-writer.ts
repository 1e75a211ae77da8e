import { createBatcher } from '@vitascope/concurrency'
import { DomainError, isDomainError } from '@vitascope/errors'
import type { Logger, Metrics } from '@vitascope/telemetry'
import { toDay } from '../view/day.ts'
import type { StoredEvent } from '../view/event-row.ts'
import { batchViews, type ViewBatch } from '../view/view-batch.ts'
import type { ViewCache } from '../view/view-cache.ts'
import { TOO_OLD } from './event.ts'
import { completeLine, toLine } from './event-line.ts'
import type { Batch, EventStore } from './event-store.ts'
import { firstWritableDay, removeLateEvents } from './late-events.ts'
import type { CountRejected } from './rejected-events.ts'
import type { Spool } from './spool.ts'

/** Stores events durably. Events of concurrent callers are stored in one batch. */
export interface EventWriter {
  /** Resolves when all events are durable. Throws `unavailable` if they could not be stored. */
  add(events: readonly StoredEvent[]): Promise<void>
  /**
   * Moves spooled events into the database if it is available. Events of days whose data was deleted
   * in the meantime are rejected.
   */
  drain(): Promise<void>
  /** Resolves when all added events are durable or rejected. */
  close(): Promise<void>
}

interface QueuedEvents extends Batch {
  batch: ViewBatch
  /** Time at which the events were added, by `performance.now()`. */
  addedMs: number
}

export interface EventWriterOptions {
  store: Pick<EventStore, 'write'>
  spool: Spool | undefined
  /** Cache that receives the views of inserted batches. */
  viewCache?: Pick<ViewCache, 'add'>
  countRejected: CountRejected
  /** Days after which events and views are deleted. */
  retentionDays: number
  log: Logger
  metrics: Metrics
  /** Maximum number of events that wait for the database. The default is 20,000. */
  maxQueued?: number
  now?: () => number
}

/** Maximum number of events per insert. */
const MAX_EVENTS_PER_INSERT = 5_000
/** Number of concurrent inserts. One is written while the other one is synced to disk. */
const CONCURRENT_INSERTS = 2
/** After a database failure, all events go to the spool for this time. */
const DATABASE_PAUSE_MS = 1_000

/** Upper bounds in seconds. A batch waits at most 20 ms while the database is fast. */
const BATCH_WAIT_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5]

/** Creates a writer with group commit. */
export function createEventWriter({
  store,
  spool,
  viewCache,
  countRejected,
  retentionDays,
  log,
  metrics,
  maxQueued = 20_000,
  now = Date.now,
}: EventWriterOptions): EventWriter {
  let pausedUntil = 0
  const inserts = metrics.counter(
    'vitascope_analytics_inserts_total',
    'Batches of events that were stored, by storage: database or spool',
    ['storage'],
  )
  const batchWait = metrics.seconds(
    'vitascope_analytics_batch_wait_seconds',
    'Time that the first event of a batch waited for its insert to start',
    [],
    BATCH_WAIT_BUCKETS,
  )
  metrics.gauge('vitascope_analytics_waiting_events', 'Events in memory that are not stored yet', [], (gauge) =>
    gauge.set(batcher.queuedWeight()),
  )
  metrics.gauge('vitascope_analytics_spool_bytes', 'Bytes of events in the spool, because the database is unavailable', [], (gauge) =>
    gauge.set(spool?.bytes() ?? 0),
  )

  const storeBatch = async (batch: Batch, viewBatches: readonly ViewBatch[]) => {
    if (!spool || now() >= pausedUntil) {
      try {
        const batchId = await store.write(batch)
        viewCache?.add(batchId, viewBatches)
        inserts.inc({ storage: 'database' })
        return
      } catch (error) {
        if (!spool || !isDomainError(error)) throw error
        log.warn({ err: error }, 'database unavailable; storing events in the spool')
        pausedUntil = now() + DATABASE_PAUSE_MS
      }
    }
    await spool.append(batch)
    inserts.inc({ storage: 'spool' })
  }
  const batcher = createBatcher<QueuedEvents>({
    concurrency: CONCURRENT_INSERTS,
    maxWeight: MAX_EVENTS_PER_INSERT,
    getWeight: ({ lines }) => lines.length,
    maxQueued,
    rejection: () =>
      new DomainError('unavailable', 'INTAKE_FULL', 'too many events are waiting to be stored; try again', { retryAfter: 1 }),
    async write(queued) {
      batchWait.observe((performance.now() - (queued[0]?.addedMs ?? 0)) / 1000)
      const batch = { lines: queued.flatMap(({ lines }) => lines), days: [...new Set(queued.flatMap(({ days }) => days))] }
      await storeBatch(
        batch,
        queued.map(({ batch }) => batch),
      )
      return []
    },
  })
  /** Writes spooled events to the database without the queue, because they are already acknowledged. */
  const replay = async (spooled: Batch) => {
    const { batch, removedEvents } = removeLateEvents(spooled, firstWritableDay(retentionDays, now()))
    if (batch.lines.length > 0) await store.write({ ...batch, lines: batch.lines.map(completeLine) })
    if (removedEvents === 0) return
    countRejected(TOO_OLD.reason, removedEvents)
    log.warn({ events: removedEvents }, 'spooled events are older than the retention; not counted')
  }

  return {
    async add(events) {
      if (events.length === 0) return
      batcher.requireSpace(events.length)
      const days = new Set<string>()
      const lines = events.map((event) => {
        const day = toDay(event.atMs)
        days.add(day)
        return toLine(event, day)
      })
      // The queue contains lines and views instead of event objects, to use less memory.
      const batch = batchViews(events)
      await batcher.add({ batch, lines, days: [...days], addedMs: performance.now() })
    },
    async drain() {
      if (!spool || spool.bytes() === 0) return
      await spool.drain(replay)
      log.info('spooled events written to the database')
    },
    close: () => batcher.flush(),
  }
}
