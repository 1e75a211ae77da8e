import { describe, expect, test } from '@jest/globals'
import { createMetrics } from '@vitascope/telemetry'
import { testLog, waitFor } from '@vitascope/testing'
import { type KeptEvent, keep } from './event.ts'
import type { Batch } from './event-store.ts'
import { createIntake } from './intake.ts'

const told = { videoId: '1', type: 1, atMs: 0, watched: [], rewatched: [], language: '', subtitle: '', quality: undefined }
const events = (count: number): KeptEvent[] =>
  Array.from({ length: count }, () =>
    keep({ ...told, viewId: crypto.randomUUID() }, { organisationId: '1', durationMs: 0, receivedMs: 0, visitor: undefined }),
  )
const FULL = { kind: 'unavailable', reason: 'INTAKE_FULL', retryAfter: 1 }

/** An intake whose database takes nothing until it is let. */
function slowIntake(more: { mostWaiting?: number } = {}) {
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
  const intake = createIntake({ store, spool: undefined, rejected: () => {}, keptDays: 90, log: testLog, metrics, ...more })
  return {
    intake,
    metrics,
    written: () => written.flatMap(({ lines }) => lines).length,
    /** Both writers wait for the database: whatever comes now waits for them. */
    async occupy() {
      const adds: Promise<void>[] = []
      for (const writer of [1, 2]) {
        adds.push(intake.add(events(1)))
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
  test('so many events wait and no more; others are refused, unavailable, until there is room', async () => {
    const { intake, metrics, occupy, release, written } = slowIntake({ mostWaiting: 10 })
    const sent = [...(await occupy()), intake.add(events(6))]
    await expect(intake.add(events(5))).rejects.toMatchObject(FULL)
    sent.push(intake.add(events(4)))
    await expect(intake.add(events(1))).rejects.toMatchObject(FULL)
    await release(sent)
    // Of what was refused nothing is kept.
    expect(written()).toBe(12)
    await release([intake.add(events(10))])
    expect(written()).toBe(22)
    // Two that occupied it, one of all that waited for them, and the last.
    expect(await metrics.text()).toMatch(/vitascope_analytics_gathering_seconds_count\S* 4\n/)
  })
  test('twenty thousand wait, unless it is said otherwise', async () => {
    const { intake, occupy, release, written } = slowIntake()
    const sent = await occupy()
    sent.push(intake.add(Array<KeptEvent>(20_000).fill(events(1)[0] as KeptEvent)))
    await expect(intake.add(events(1))).rejects.toMatchObject(FULL)
    await release(sent)
    expect(written()).toBe(20_002)
  })
})
