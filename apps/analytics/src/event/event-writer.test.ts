import { describe, expect, test } from '@jest/globals'
import { createMetrics } from '@vitascope/telemetry'
import { testLog, waitFor } from '@vitascope/testing'
import type { StoredEvent } from '../view/event-row.ts'
import { toStoredEvent } from './event.ts'
import type { Batch } from './event-store.ts'
import { createEventWriter } from './event-writer.ts'

const received = {
  videoId: '1',
  type: 1,
  atMs: 0,
  watched: [],
  rewatched: [],
  language: '',
  subtitle: '',
  quality: undefined,
  referrer: '',
  knownViewOnly: false,
}
const events = (count: number): StoredEvent[] =>
  Array.from({ length: count }, () =>
    toStoredEvent({ ...received, viewId: crypto.randomUUID() }, { organisationId: '1', durationMs: 0, receivedMs: 0, visitor: undefined }),
  )
const FULL = { kind: 'unavailable', reason: 'INTAKE_FULL', retryAfter: 1 }

/** Creates an event writer whose database blocks until `release` is called. */
function slowIntake(more: { maxQueued?: number } = {}) {
  const written: Batch[] = []
  const held: (() => void)[] = []
  const store = {
    async write(batch: Batch) {
      await new Promise<void>((resolve) => held.push(resolve))
      written.push(batch)
      return String(written.length)
    },
  }
  const metrics = createMetrics('analytics')
  const eventWriter = createEventWriter({
    store,
    spool: undefined,
    countRejected: () => {},
    retentionDays: 90,
    log: testLog,
    metrics,
    ...more,
  })
  return {
    eventWriter,
    metrics,
    written: () => written.flatMap(({ lines }) => lines).length,
    /** Blocks both writers in the database, so that later events have to wait for them. */
    async occupy() {
      const adds: Promise<void>[] = []
      for (const writer of [1, 2]) {
        adds.push(eventWriter.add(events(1)))
        await waitFor(async () => held.length === writer, { describe: 'a writer at the database' })
      }
      return adds
    },
    async release(sent: readonly Promise<void>[]) {
      const timer = setInterval(() => {
        for (const go of held.splice(0)) go()
      }, 1)
      await Promise.all(sent).finally(() => clearInterval(timer))
    },
  }
}

describe('while the database is slow', () => {
  test('events wait up to the limit, and more are rejected as unavailable until the queue is shorter', async () => {
    const { eventWriter, metrics, occupy, release, written } = slowIntake({ maxQueued: 10 })
    const sent = [...(await occupy()), eventWriter.add(events(6))]
    await expect(eventWriter.add(events(5))).rejects.toMatchObject(FULL)
    sent.push(eventWriter.add(events(4)))
    await expect(eventWriter.add(events(1))).rejects.toMatchObject(FULL)
    await release(sent)
    // Rejected events are not stored.
    expect(written()).toBe(12)
    await release([eventWriter.add(events(10))])
    expect(written()).toBe(22)
    // Two inserts that blocked the writers, one with all events that waited for them, and the last
    // one.
    expect(await metrics.text()).toMatch(/vitascope_analytics_batch_wait_seconds_count\S* 4\n/)
  })
  test('the default limit is 20,000 waiting events', async () => {
    const { eventWriter, occupy, release, written } = slowIntake()
    const sent = await occupy()
    sent.push(eventWriter.add(Array<StoredEvent>(20_000).fill(events(1)[0] as StoredEvent)))
    await expect(eventWriter.add(events(1))).rejects.toMatchObject(FULL)
    await release(sent)
    expect(written()).toBe(20_002)
  })
})
