import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { DomainError } from '@vitascope/errors'
import { createLogger } from '@vitascope/telemetry'
import { createTestDatabase, waitFor } from '@vitascope/testing'
import { createOutbox, type Db, openPostgres } from '../src/index.ts'

const log = createLogger({ service: 'test', level: 'silent' })
let db: Db
let folder: string
let drop: () => Promise<void>

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'migrations-'))
  await writeFile(join(folder, '0001-thing.sql'), 'create table thing (name text);')
  const fresh = await createTestDatabase({ migrations: folder, schema: 'thing' })
  drop = fresh.drop
  db = openPostgres({ url: fresh.url, schema: 'thing', log })
})
afterAll(async () => {
  await db.close()
  await drop()
  await rm(folder, { recursive: true })
})
beforeEach(() => db.query('truncate outbox'))

describe('the outbox', () => {
  const send = async (rows: [key: string, n: number][], outbox: ReturnType<typeof createOutbox>) => {
    for (const [key, n] of rows) await db.transaction((tx) => outbox.enqueue(tx, { topic: 't', key, payload: { key, n } }))
  }
  const empty = async () => (await db.query('select 1 from outbox where dead_time is null')).length === 0

  test('sends messages in order per key, even if some attempts fail', async () => {
    const received: { key: string; n: number }[] = []
    let calls = 0
    const handlers = {
      t: async (message: { key: string; n: number }) => {
        if (calls++ % 3 === 0) throw new Error('unavailable')
        received.push(message)
      },
    }
    const outbox = createOutbox({ db, log, handlers })
    await send(
      [
        ['a', 1],
        ['b', 1],
        ['a', 2],
        ['a', 3],
        ['b', 2],
      ],
      outbox,
    )
    outbox.start()
    await waitFor(empty, { describe: 'an empty outbox', timeout: 15_000 })
    await outbox.stop()
    expect(received.filter((m) => m.key === 'a').map((m) => m.n)).toEqual([1, 2, 3])
    expect(received.filter((m) => m.key === 'b').map((m) => m.n)).toEqual([1, 2])
  })
  test('sends messages of another process by all senders at once, although only one idle sender polls', async () => {
    let polls = 0
    const countingDb: Db = {
      ...db,
      transaction: (run, ...rest) => {
        polls++
        return db.transaction(run, ...rest)
      },
    }
    let [running, most] = [0, 0]
    const release = Promise.withResolvers<void>()
    const handlers = {
      t: async () => {
        most = Math.max(most, ++running)
        if (running === 4) release.resolve()
        await release.promise
      },
    }
    const outbox = createOutbox({ db: countingDb, log, handlers })
    outbox.start()
    await waitFor(() => polls === 4, { describe: 'the first attempt of each sender' })
    const start = Date.now()
    await waitFor(() => polls >= 10, { describe: 'six polls', timeout: 15_000 })
    expect(Date.now() - start).toBeGreaterThan(2_400)
    await send(
      [1, 2, 3, 4].map((n) => [`key ${n}`, n]),
      createOutbox({ db, log, handlers }),
    )
    await waitFor(empty, { describe: 'an empty outbox', timeout: 15_000 })
    await outbox.stop()
    expect(most).toBe(4)
  })
  test('stops retrying a message after maxErrors faults, and does not count unavailability as a fault', async () => {
    let calls = 0
    const handlers = {
      t: async () => {
        calls++
        if (calls === 2) throw new DomainError('unavailable', 'SERVICE_UNAVAILABLE', 'unavailable')
        throw new Error('a fault')
      },
    }
    const outbox = createOutbox({ db, log, handlers, maxErrors: 2 })
    await send([['a', 1]], outbox)
    outbox.start()
    await waitFor(empty, { describe: 'the message to be given up', timeout: 15_000 })
    await outbox.stop()
    expect(calls).toBe(3)
    expect(await db.query('select attempts, faults from outbox')).toEqual([{ attempts: 3, faults: 2 }])
    await db.query('delete from outbox')
  })
  test('never sends a message of a rolled-back transaction', async () => {
    const received: unknown[] = []
    const outbox = createOutbox({ db, log, handlers: { t: async (m: unknown) => void received.push(m) } })
    outbox.start()
    await expect(
      db.transaction(async (tx) => {
        await outbox.enqueue(tx, { topic: 't', key: 'a', payload: 1 })
        throw new Error('no')
      }),
    ).rejects.toThrow('no')
    await send([['a', 2]], outbox)
    await waitFor(empty, { describe: 'an empty outbox', timeout: 5_000 })
    await outbox.stop()
    expect(received).toEqual([{ key: 'a', n: 2 }])
  })
  test('sends the messages of its topics only, so a slow receiver delays no other outbox', async () => {
    const sent: string[] = []
    let release = () => {}
    const slow = createOutbox({
      ...{ db, log, concurrency: 1 },
      handlers: { slow: () => new Promise<void>((resolve) => (release = resolve)).then(() => void sent.push('slow')) },
    })
    const fast = createOutbox({ db, log, handlers: { fast: async () => void sent.push('fast') } })
    const isEmpty = async (topic: string) => (await db.query('select from outbox where topic = $1', [topic])).length === 0
    await db.transaction(async (tx) => {
      await slow.enqueue(tx, { topic: 'slow', key: 'a', payload: 1 })
      await fast.enqueue(tx, { topic: 'fast', key: 'b', payload: 1 })
    })
    slow.start()
    fast.start()
    await waitFor(() => isEmpty('fast'), { timeout: 5_000 })
    expect(sent).toEqual(['fast'])
    await waitFor(async () => {
      release()
      return await isEmpty('slow')
    })
    expect(sent).toEqual(['fast', 'slow'])
    await Promise.all([slow.stop(), fast.stop()])
  })
  test('two outboxes send each message once if nothing fails', async () => {
    const received: number[] = []
    const outboxes = [0, 1].map(() => createOutbox({ db, log, handlers: { t: async (m: { n: number }) => void received.push(m.n) } }))
    const [first] = outboxes
    if (!first) throw new Error('no outbox was created')
    await send(
      Array.from({ length: 30 }, (_, i) => [`k${i % 7}`, i] as [string, number]),
      first,
    )
    for (const outbox of outboxes) outbox.start()
    await waitFor(empty, { describe: 'an empty outbox', timeout: 10_000 })
    await Promise.all(outboxes.map((outbox) => outbox.stop()))
    expect(received.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, i) => i))
  })
})
