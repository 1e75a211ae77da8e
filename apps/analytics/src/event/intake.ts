import { DomainError, isDomainError } from '@vitascope/errors'
import type { Logger, Metrics } from '@vitascope/telemetry'
import { dayOf } from '../view/contribution.ts'
import { type Gathered, gather } from '../view/gathered.ts'
import { type KeptEvent, TOO_OLD } from './event.ts'
import { toLine } from './event-line.ts'
import type { Batch, EventStore } from './event-store.ts'
import { firstSpooledDay, withoutLate } from './late-events.ts'
import type { RecentViews } from './recent-views.ts'
import type { CountRejected } from './rejected-events.ts'
import type { Spool } from './spool.ts'

/** Makes events durable, those of many callers together. */
export interface Intake {
  /** Comes back when all of them are durable; refuses as unavailable when none of them is promised to be. */
  add(events: readonly KeptEvent[]): Promise<void>
  /** Brings what lies on disk into the database, when that answers; of days that are removed by now it is rejected. */
  drain(): Promise<void>
  /** Waits until all that was added is durable or refused. */
  close(): Promise<void>
}

interface Waiting extends Batch {
  gathered: Gathered
  /** By the clock of the process, in milliseconds. */
  since: number
  resolve(): void
  reject(error: unknown): void
}

export interface IntakeOptions {
  store: Pick<EventStore, 'write'>
  spool: Spool | undefined
  /** Is told what is in the database. */
  recent?: Pick<RecentViews, 'keep'>
  rejected: CountRejected
  /** Days for which events and views are kept. */
  keptDays: number
  log: Logger
  metrics: Metrics
  /** Events that may wait for the database; 20,000 by default. */
  mostWaiting?: number
  now?: () => number
}

/** Events of one insert. */
const MOST_AT_ONCE = 5_000
/** Inserts under way at once: the second gathers while the first is synced. */
const WRITERS = 2
/** The time for which a database that failed is not asked again. */
const AWAY_MS = 1_000

/** Around the 20 ms that nobody should wait for others while the database is quick. */
const GATHER_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5]

/** Who comes while an insert is under way goes with the next: nobody waits for a clock, and under load the inserts become large. */
export function createIntake({
  store,
  spool,
  recent,
  rejected,
  keptDays,
  log,
  metrics,
  mostWaiting = 20_000,
  now = Date.now,
}: IntakeOptions): Intake {
  const queue: Waiting[] = []
  let waiting = 0
  let writers = 0
  let awayUntil = 0
  const running = new Set<Promise<void>>()
  const inserts = metrics.counter('vitascope_analytics_inserts_total', 'Batches of events made durable', ['where'])
  const gathering = metrics.seconds(
    'vitascope_analytics_gathering_seconds',
    'How long the first of an insert waited for it to begin',
    [],
    GATHER_BUCKETS,
  )
  metrics.gauge('vitascope_analytics_waiting_events', 'Events that wait to be durable', [], (gauge) => gauge.set(waiting))
  metrics.gauge('vitascope_analytics_spool_bytes', 'Bytes of events on disk for want of the database', [], (gauge) =>
    gauge.set(spool?.bytes() ?? 0),
  )

  const keepBatch = async (batch: Batch, gathered: readonly Gathered[]) => {
    if (!spool || now() >= awayUntil) {
      try {
        const batchId = await store.write(batch)
        recent?.keep(batchId, gathered)
        inserts.inc({ where: 'database' })
        return
      } catch (error) {
        if (!spool || !isDomainError(error)) throw error
        log.warn({ err: error }, 'the database is away: events are kept on disk')
        awayUntil = now() + AWAY_MS
      }
    }
    await spool.append(batch)
    inserts.inc({ where: 'disk' })
  }
  const take = (): Waiting[] => {
    let events = 0
    let count = 0
    while (count < queue.length && (count === 0 || events + (queue[count]?.lines.length ?? 0) <= MOST_AT_ONCE)) {
      events += queue[count]?.lines.length ?? 0
      count++
    }
    waiting -= events
    return queue.splice(0, count)
  }
  const writeOn = async () => {
    while (queue.length > 0) {
      const taken = take()
      gathering.observe((performance.now() - (taken[0]?.since ?? 0)) / 1000)
      const batch = { lines: taken.flatMap(({ lines }) => lines), days: [...new Set(taken.flatMap(({ days }) => days))] }
      try {
        await keepBatch(
          batch,
          taken.map(({ gathered }) => gathered),
        )
        for (const one of taken) one.resolve()
      } catch (error) {
        for (const one of taken) one.reject(error)
      }
    }
  }
  /** Not through the queue: what lies on disk is promised already. */
  const bringIn = async (spooled: Batch) => {
    const { batch, late } = withoutLate(spooled, firstSpooledDay(keptDays, now()))
    if (batch.lines.length > 0) await store.write(batch)
    if (late === 0) return
    rejected(TOO_OLD.reason, late)
    log.warn({ events: late }, 'events lay on disk until their days were removed: they do not count')
  }
  const start = () => {
    if (writers >= WRITERS) return
    writers++
    // Others of this turn of the event loop go along.
    const run = new Promise<void>((resolve) => setImmediate(resolve)).then(writeOn).finally(() => {
      writers--
      running.delete(run)
    })
    running.add(run)
  }

  return {
    add(events) {
      if (events.length === 0) return Promise.resolve()
      if (waiting + events.length > mostWaiting) {
        return Promise.reject(new DomainError('unavailable', 'INTAKE_FULL', 'too many events at once: try again', { retryAfter: 1 }))
      }
      const days = new Set<string>()
      const lines = events.map((event) => {
        const day = dayOf(event.atMs)
        days.add(day)
        return toLine(event, day)
      })
      // Of the events themselves nothing is kept from here on: they would live as long as an insert takes.
      const gathered = gather(events)
      waiting += lines.length
      return new Promise((resolve, reject) => {
        queue.push({ gathered, lines, days: [...days], since: performance.now(), resolve, reject })
        start()
      })
    },
    async drain() {
      if (!spool || spool.bytes() === 0) return
      await spool.drain(bringIn)
      log.info('what was kept on disk is in the database')
    },
    async close() {
      while (running.size > 0) await Promise.all(running)
    },
  }
}
