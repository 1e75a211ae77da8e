import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { createLogger } from '@vitascope/telemetry'
import { createTestDatabase, waitFor } from '@vitascope/testing'
import { createNotifications, type Db, type NotificationBatch, type Notifications, openPostgres } from '../src/index.ts'

const log = createLogger({ service: 'test', level: 'silent' })
const CHANNEL = 'vitascope_test_changed'

let db: Db
let url: string
let folder: string
let drop: () => Promise<void>
let notifications: Notifications
let controller: AbortController
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'migrations-'))
  const database = await createTestDatabase({ migrations: folder, schema: 'thing' })
  url = database.url
  drop = database.drop
  db = openPostgres({ url, schema: 'thing', log })
})
afterAll(async () => {
  await db.close()
  await drop()
  await rm(folder, { recursive: true })
})
beforeEach(async () => {
  controller = new AbortController()
  notifications = createNotifications({ url, channel: CHANNEL, applicationName: 'vitascope-test-listen', log, heartbeatMs: 50 })
  await notifications.start()
})
afterEach(() => notifications.stop())

const notify = (payload: string) => db.query('select pg_notify($1, $2)', [CHANNEL, payload])

/** Collects the batches of a watch until it ends. */
function watch() {
  const batches: NotificationBatch[] = []
  let markStarted: () => void = () => undefined
  const started = new Promise<void>((resolve) => {
    markStarted = resolve
  })
  const ended = (async () => {
    for await (const batch of notifications.watch(controller.signal)) {
      batches.push(batch)
      markStarted()
    }
  })().then(
    () => 'ended',
    (error: { reason: string }) => error.reason,
  )
  return { batches, payloads: () => batches.flatMap(({ payloads }) => payloads), started, ended }
}

test('every watch starts with an empty batch and receives all payloads in commit order', async () => {
  const first = watch()
  const second = watch()
  await Promise.all([first.started, second.started])
  expect([first.payloads(), second.payloads()]).toEqual([[], []])
  const sent = Array.from({ length: 500 }, (_, index) => `${index}`)
  for (const payload of sent) await notify(payload)
  await waitFor(() => first.payloads().length === sent.length && second.payloads().length === sent.length)
  expect(first.payloads()).toEqual(sent)
  expect(second.payloads()).toEqual(sent)
  controller.abort()
  expect(await first.ended).toBe('ended')
  expect(await second.ended).toBe('ended')
})

test('a rolled-back notification is not received', async () => {
  const { payloads, started } = watch()
  await started
  const failing = db.transaction(async ({ query }) => {
    await query('select pg_notify($1, $2)', [CHANNEL, 'rolled back'])
    throw new Error('no')
  })
  await expect(failing).rejects.toThrow('no')
  await notify('committed')
  await waitFor(() => payloads().length > 0)
  expect(payloads()).toEqual(['committed'])
})

test('batches are complete until the time that they contain', async () => {
  const { batches, payloads, started } = watch()
  await started
  for (let round = 0; round < 20; round++) {
    await notify(`${round}`)
    const committedMs = performance.now()
    await waitFor(() => (batches.at(-1)?.completeUntilMs ?? 0) >= committedMs)
    expect(payloads()).toContain(`${round}`)
  }
  const times = batches.map(({ completeUntilMs }) => completeUntilMs)
  expect(times).toEqual([...times].sort((a, b) => a - b))
  expect(times.at(-1)).toBeLessThanOrEqual(performance.now())
})

test('when the connection is lost, every watch ends and a new watch receives notifications again', async () => {
  const { started, ended } = watch()
  await started
  await db.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'vitascope-test-listen'
    and datname = current_database()`)
  expect(await ended).toBe('CHANGES_LOST')
  const restarted = await waitFor(async () => {
    const next = watch()
    const isActive = await Promise.race([next.ended.then(() => false), next.started.then(() => true)])
    return isActive ? next : undefined
  })
  await notify('later')
  await waitFor(() => restarted.payloads().includes('later'))
})

test('stopping ends every watch', async () => {
  const { started, ended } = watch()
  await started
  await notifications.stop()
  expect(await ended).toBe('ended')
})
