import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { testLog, waitFor } from '@vitascope/testing'
import { openTestDatabase, type TestDatabase } from '../../test/test-auth.ts'
import { announceKeys } from '../key/key-change.ts'
import { createKeyChanges, type KeyChanges } from './key-changes.ts'

let database: TestDatabase
let changes: KeyChanges
let controller: AbortController
beforeAll(async () => {
  database = await openTestDatabase()
  await database.db.query(`insert into organisation (name) values ('one')`)
  await database.db.query(`insert into users (organisation_id, first_name, last_name, email, user_type, status)
    values (2, 'a', 'b', 'a@b', 'uploader', 'active')`)
  await database.db.query(`insert into api_key (user_id, application_name, lookup, sealed_value)
    select 1, 'x', int8send(n), '' from generate_series(1, 1000) n`)
})
afterAll(() => database.drop())
beforeEach(async () => {
  controller = new AbortController()
  changes = createKeyChanges({ url: database.url, log: testLog, heartbeatMs: 50 })
  await changes.start()
})
afterEach(() => changes.stop())

/** Collects the messages of a watch until it ends. */
function watch() {
  const seen: string[][] = []
  let markStarted: () => void = () => undefined
  const started = new Promise<void>((resolve) => {
    markStarted = resolve
  })
  const ended = (async () => {
    for await (const ids of changes.watch(controller.signal)) {
      seen.push(ids)
      markStarted()
    }
  })().then(
    () => 'ended',
    (error: { reason: string }) => error.reason,
  )
  return { seen, started, ended }
}

test('every watch starts with an empty message and receives the ids of all changed keys at commit', async () => {
  const one = watch()
  const two = watch()
  await waitFor(() => one.seen.length === 1 && two.seen.length === 1)
  expect(one.seen).toEqual([[]])
  await database.db.transaction(async ({ query }) => announceKeys(query, 'user_id = $1', [1]))
  await waitFor(() => one.seen.flat().length === 1000 && two.seen.flat().length === 1000, { timeout: 1_000 })
  expect(new Set(one.seen.flat()).size).toBe(1000)
  controller.abort()
  expect(await one.ended).toBe('ended')
  expect(await two.ended).toBe('ended')
})

test('a rolled-back change is not reported', async () => {
  const { seen } = watch()
  const failing = database.db.transaction(async ({ query }) => {
    await announceKeys(query, 'api_key_id = 1', [])
    throw new Error('no')
  })
  await expect(failing).rejects.toThrow('no')
  await announceKeys(database.db.query, 'api_key_id = 2', [])
  await waitFor(() => seen.length === 2)
  expect(seen).toEqual([[], ['2']])
  controller.abort()
})

test('when the connection is lost, every watch ends and a new watch receives changes again', async () => {
  const { seen, ended } = watch()
  await waitFor(() => seen.length === 1)
  await database.db.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'vitascope-auth-listen'
    and datname = current_database()`)
  expect(await ended).toBe('KEY_CHANGES_LOST')
  const again = await waitFor(async () => {
    const next = watch()
    const isActive = await Promise.race([next.ended.then(() => false), next.started.then(() => true)])
    return isActive ? next : undefined
  })
  await announceKeys(database.db.query, 'api_key_id = 7', [])
  await waitFor(() => again.seen.flat().includes('7'), { timeout: 1_000 })
  controller.abort()
})

test('stopping ends every watch', async () => {
  const { seen, ended } = watch()
  await waitFor(() => seen.length === 1)
  await changes.stop()
  expect(await ended).toBe('ended')
})
