import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createNotifications } from '@vitascope/postgres'
import { testLog, waitFor } from '@vitascope/testing'
import { openTestDatabase, type TestDatabase } from '../../test/test-auth.ts'
import { KEY_CHANGED, notifyKeyChange, watchKeyChanges } from './key-change.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await openTestDatabase()
  await database.db.query(`insert into organisation (name) values ('one')`)
  await database.db.query(`insert into users (organisation_id, first_name, last_name, email, user_type, status)
    values (2, 'a', 'b', 'a@b', 'uploader', 'active')`)
  await database.db.query(`insert into api_key (user_id, application_name, lookup, sealed_value)
    select 1, 'x', int8send(n), '' from generate_series(1, 1000) n`)
})
afterAll(() => database.drop())

test('a watch starts with an empty message and receives the ids of all changed keys', async () => {
  const changes = createNotifications({ url: database.url, channel: KEY_CHANGED, applicationName: 'test', log: testLog, heartbeatMs: 50 })
  await changes.start()
  const controller = new AbortController()
  const messages: string[][] = []
  const ended = (async () => {
    for await (const ids of watchKeyChanges(changes, controller.signal)) messages.push(ids)
  })()
  await waitFor(() => messages.length === 1)
  expect(messages).toEqual([[]])
  await database.db.transaction(async ({ query }) => notifyKeyChange(query, 'user_id = $1', [1]))
  await waitFor(() => messages.flat().length === 1000)
  expect(new Set(messages.flat()).size).toBe(1000)
  await notifyKeyChange(database.db.query, 'api_key_id = 7', [])
  await waitFor(() => messages.flat().length === 1001)
  expect(messages.slice(1).every((ids) => ids.length > 0)).toBe(true)
  controller.abort()
  await ended
  await changes.stop()
})
