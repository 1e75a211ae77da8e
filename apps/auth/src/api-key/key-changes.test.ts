import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { testLog, waitFor } from '@vitascope/testing'
import { openTestDatabase, type TestDatabase } from '../../test/test-auth.ts'
import { notifyKeyChange } from '../key/key-change.ts'
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
  const messages: string[][] = []
  let markStarted: () => void = () => undefined
  const started = new Promise<void>((resolve) => {
    markStarted = resolve
  })
  const ended = (async () => {
    for await (const ids of changes.watch(controller.signal)) {
      messages.push(ids)
      markStarted()
    }
  })().then(
    () => 'ended',
    (error: { reason: string }) => error.reason,
  )
  return { messages, started, ended }
}

test('every watch starts with an empty message and receives the ids of all changed keys at commit', async () => {
  const first = watch()
  const second = watch()
  await waitFor(() => first.messages.length === 1 && second.messages.length === 1)
  expect(first.messages).toEqual([[]])
  await database.db.transaction(async ({ query }) => notifyKeyChange(query, 'user_id = $1', [1]))
  await waitFor(() => first.messages.flat().length === 1000 && second.messages.flat().length === 1000, { timeout: 1_000 })
  expect(new Set(first.messages.flat()).size).toBe(1000)
  controller.abort()
  expect(await first.ended).toBe('ended')
  expect(await second.ended).toBe('ended')
})

test('a rolled-back change is not reported', async () => {
  const { messages } = watch()
  const failing = database.db.transaction(async ({ query }) => {
    await notifyKeyChange(query, 'api_key_id = 1', [])
    throw new Error('no')
  })
  await expect(failing).rejects.toThrow('no')
  await notifyKeyChange(database.db.query, 'api_key_id = 2', [])
  await waitFor(() => messages.length === 2)
  expect(messages).toEqual([[], ['2']])
  controller.abort()
})

test('when the connection is lost, every watch ends and a new watch receives changes again', async () => {
  const { messages, ended } = watch()
  await waitFor(() => messages.length === 1)
  await database.db.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'vitascope-auth-listen'
    and datname = current_database()`)
  expect(await ended).toBe('KEY_CHANGES_LOST')
  const restarted = await waitFor(async () => {
    const next = watch()
    const isActive = await Promise.race([next.ended.then(() => false), next.started.then(() => true)])
    return isActive ? next : undefined
  })
  await notifyKeyChange(database.db.query, 'api_key_id = 7', [])
  await waitFor(() => restarted.messages.flat().includes('7'), { timeout: 1_000 })
  controller.abort()
})

test('stopping ends every watch', async () => {
  const { messages, ended } = watch()
  await waitFor(() => messages.length === 1)
  await changes.stop()
  expect(await ended).toBe('ended')
})
