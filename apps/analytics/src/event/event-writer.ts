import { createBatcher } from '@vitascope/concurrency'
import { DomainError, isDomainError } from '@vitascope/errors'
import type { Logger, Metrics } from '@vitascope/telemetry'
import { dayOf } from '../view/contribution.ts'
import type { StoredEvent } from '../view/event-row.ts'
import { batchViews, type ViewBatch } from '../view/view-batch.ts'
import type { ViewCache } from '../view/view-cache.ts'
import { TOO_OLD } from './event.ts'
import { toLine } from './event-line.ts'
import type { Batch, EventStore } from './event-store.ts'
import { firstSpooledDay, removeLateEvents } from './late-events.ts'
import type { CountRejected } from './rejected-events.ts'
import type { Spool } from './spool.ts'

/** Stores events durably and batches those of concurrent callers. */
export interface EventWriter {
  /** Resolves when all events are durable. Throws `unavailable` if none of them is guaranteed to be stored. */
  add(events: readonly StoredEvent[]): Promise<void>
  /**
   * Moves spooled events into the database if it is available. Events of days that were removed in
   * the meantime are rejected.
   */
  drain(): Promise<void>
  /** Resolves when all added events are durable or rejected. */
  close(): Promise<void>
}

interface QueuedEvents extends Batch {
  batch: ViewBatch
  /** `performance.now()`, in milliseconds. */
  since: number
}

export interface EventWriterOptions {
  store: Pick<EventStore, 'write'>
  spool: Spool | undefined
  /** Cache that receives the views of inserted batches. */
  viewCache?: Pick<ViewCache, 'keep'>
  rejected: CountRejected
  /** Days for which events and views are kept. */
  retentionDays: number
  log: Logger
  metrics: Metrics
  /** Maximum number of events that wait for the database; 20,000 by default. */
  maxQueued?: number
  now?: () => number
}

/** Maximum number of events per insert. */
const MAX_EVENTS_PER_INSERT = 5_000
/** Concurrent inserts: the second collects events while the first is synced. */
const CONCURRENT_INSERTS = 2
/** After a database failure, events go to the spool for this time without trying the database. */
const DATABASE_PAUSE_MS = 1_000

/** The buckets surround 20 ms, the maximum wait while the database is fast. */
const BATCH_WAIT_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5]

/** Creates a writer with group commit. */
export function createEventWriter({
  store,
  spool,
  viewCache,
  rejected,
  retentionDays,
  log,
  metrics,
  maxQueued = 20_000,
  now = Date.now,
}: EventWriterOptions): EventWriter {
  let pausedUntil = 0
  const inserts = metrics.counter('vitascope_analytics_inserts_total', 'Batches of events that were stored, by where: database or disk', [
    'where',
  ])
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
        viewCache?.keep(batchId, viewBatches)
        inserts.inc({ where: 'database' })
        return
      } catch (error) {
        if (!spool || !isDomainError(error)) throw error
        log.warn({ err: error }, 'database unavailable; storing events on disk')
        pausedUntil = now() + DATABASE_PAUSE_MS
      }
    }
    await spool.append(batch)
    inserts.inc({ where: 'disk' })
  }
  const batcher = createBatcher<QueuedEvents>({
    concurrency: CONCURRENT_INSERTS,
    maxWeight: MAX_EVENTS_PER_INSERT,
    weightOf: ({ lines }) => lines.length,
    maxQueued,
    rejection: () =>
      new DomainError('unavailable', 'INTAKE_FULL', 'too many events are waiting to be stored; try again', { retryAfter: 1 }),
    async write(queued) {
      batchWait.observe((performance.now() - (queued[0]?.since ?? 0)) / 1000)
      const batch = { lines: queued.flatMap(({ lines }) => lines), days: [...new Set(queued.flatMap(({ days }) => days))] }
      await storeBatch(
        batch,
        queued.map(({ batch }) => batch),
      )
      return []
    },
  })
  /** Bypasses the queue, because spooled events are already acknowledged. */
  const replay = async (spooled: Batch) => {
    const { batch, late } = removeLateEvents(spooled, firstSpooledDay(retentionDays, now()))
    if (batch.lines.length > 0) await store.write(batch)
    if (late === 0) return
    rejected(TOO_OLD.reason, late)
    log.warn({ events: late }, 'spooled events are older than the retention; not counted')
  }

  return {
    async add(events) {
      if (events.length === 0) return
      batcher.requireSpace(events.length)
      const days = new Set<string>()
      const lines = events.map((event) => {
        const day = dayOf(event.atMs)
        days.add(day)
        return toLine(event, day)
      })
      // Do not retain the event objects: they would stay in memory for the duration of an insert.
      const batch = batchViews(events)
      await batcher.add({ batch, lines, days: [...days], since: performance.now() })
    },
    async drain() {
      if (!spool || spool.bytes() === 0) return
      await spool.drain(replay)
      log.info('spooled events written to the database')
    },
    close: () => batcher.flush(),
  }
}
