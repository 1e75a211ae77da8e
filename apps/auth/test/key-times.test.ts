import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from '@jest/globals'
import { createGrpcServer } from '@vitascope/grpc'
import { createOutbox } from '@vitascope/postgres'
import { type AddEventRequest, EventServiceService } from '@vitascope/proto/catalogue/v1/event'
import { fixedMasterKeys } from '@vitascope/security'
import { createMetrics } from '@vitascope/telemetry'
import { testLog, waitFor } from '@vitascope/testing'
import { testPrincipals } from '@vitascope/testing/principal-keys'
import { webhookEventProblems } from '@vitascope/testing/webhook-events'
import { warnOfExpiry } from '../src/api-key/expiry-warning.ts'
import { createLastUsed } from '../src/api-key/last-used.ts'
import { createKeyCipher } from '../src/key/key-encryption.ts'
import { startAuth } from './auth-setup.ts'
import { createConfig, startTestAuth } from './test-auth.ts'

const { auth, database, org, users, system, createUser, createKey, authenticate, close } = await startAuth()
const { db } = database
afterAll(close)

const DAY = 86_400_000
const inDays = (days: number) => new Date(Date.now() + days * DAY)

describe('the time of the last use', () => {
  const usedTime = async (id: string) =>
    (await db.query<{ last_used_time: Date }>('select last_used_time from api_key_use where api_key_id = $1', [id]))[0]?.last_used_time

  test('is written at most once a minute per key, for any number of replicas', async () => {
    const { apiKeyId } = await createKey(users.uploader)
    let now = new Date('2030-01-01T00:00:00Z')
    const replicas = [createLastUsed({ db, log: testLog, now: () => now }), createLastUsed({ db, log: testLog, now: () => now })]
    const use = async (seconds: number) => {
      now = new Date(Date.parse('2030-01-01T00:00:00Z') + seconds * 1_000)
      for (const replica of replicas) replica.recordUse(apiKeyId)
      expect(await usedTime(apiKeyId)).toEqual(written)
      for (const replica of replicas) await replica.flush()
      return usedTime(apiKeyId)
    }
    let written: Date | undefined
    written = await use(0)
    expect(written).toEqual(new Date('2030-01-01T00:00:00Z'))
    written = await use(59)
    expect(written).toEqual(new Date('2030-01-01T00:00:00Z'))
    written = await use(61)
    expect(written).toEqual(new Date('2030-01-01T00:01:01Z'))
  })

  test('is not written during the call that uses the key, and is written when the service stops', async () => {
    const { apiKeyId, value } = await createKey(users.uploader)
    const other = await startTestAuth(database.url)
    await db.transaction(async (tx) => {
      // A call that writes the time would wait for this lock until the test times out.
      await tx.query('lock table api_key_use in share mode')
      await other.apiKeys.authenticate({ key: value }, { ...system, principal: { kind: 'service', service: 'test' } })
    })
    await other.stop()
    expect(Math.abs((await usedTime(apiKeyId))?.getTime() ?? 0) - Date.now()).toBeLessThan(60_000)
    const shown = await auth.apiKeys.getApiKey({ key: value }, system)
    expect(shown.apiKey?.lastUsedTime).toEqual(await usedTime(apiKeyId))
  })

  test('is kept for the next write when a write fails', async () => {
    const { apiKeyId } = await createKey(users.uploader)
    let isUnavailable = true
    const failing = {
      ...db,
      transaction: ((...args) => (isUnavailable ? Promise.reject(new Error('away')) : db.transaction(...args))) as typeof db.transaction,
    }
    const lastUsed = createLastUsed({ db: failing, log: testLog })
    lastUsed.recordUse(apiKeyId)
    await lastUsed.flush()
    isUnavailable = false
    await lastUsed.flush()
    expect(await usedTime(apiKeyId)).toBeDefined()
  })
})

describe('the expiry warning', () => {
  const cipher = createKeyCipher(fixedMasterKeys(readFileSync(createConfig('').masterKeyFile, 'utf8')))
  const outbox = createOutbox({ db, handlers: {}, log: testLog })
  const events = () => db.query<{ payload: AddEventRequest }>(`select payload from outbox where topic = 'event' order by outbox_id`)

  test('is one event per valid key that expires within 7 days, also when replicas check at the same time', async () => {
    const user = await createUser()
    const soon = await createKey(user.userId, { expireTime: inDays(6.9) })
    await createKey(user.userId, { expireTime: inDays(7.1) })
    await createKey(user.userId)
    const revoked = await createKey(user.userId, { expireTime: inDays(1) })
    await auth.apiKeys.revokeApiKey({ key: revoked.value }, system)
    const expired = await createKey(user.userId, { expireTime: inDays(1) })
    await db.query('update api_key set expire_time = now() where api_key_id = $1', [expired.apiKeyId])
    const overrides: Awaited<ReturnType<typeof createKey>>[] = []
    for (let created = 0; created < 130; created += 10) {
      overrides.push(...(await Promise.all(Array.from({ length: 10 }, () => createKey(user.userId, { expireTime: inDays(2) })))))
    }

    await Promise.all([1, 2, 3].map(() => warnOfExpiry({ db, outbox, cipher, log: testLog })))
    await warnOfExpiry({ db, outbox, cipher, log: testLog })
    const payloads = (await events()).map(({ payload }) => payload)
    expect(payloads.map(({ objectKey }) => objectKey).toSorted()).toEqual(
      [soon, ...overrides].map(({ apiKeyId }) => `key:${apiKeyId}`).toSorted(),
    )
    const event = payloads.find(({ objectKey }) => objectKey === `key:${soon.apiKeyId}`)
    expect(event).toMatchObject({ type: 'key.expiring', organisationId: org.one, eventId: expect.stringMatching(/^[\w-]{1,100}$/) })
    expect(JSON.parse(event?.dataJson ?? '')).toEqual({
      ...{ key: soon.value.slice(0, 8), application_name: 'a test', user_id: user.userId, organisation_id: org.one },
      expires: `${soon.expireTime?.toISOString().slice(0, 19).replace('T', ' ')} GMT`,
    })
    const sent = { type: event?.type ?? '', timestamp: new Date().toISOString(), data: JSON.parse(event?.dataJson ?? '') }
    expect(webhookEventProblems(sent)).toEqual([])
    expect(JSON.stringify(payloads)).not.toContain(soon.value)
    // The auth service of the fixture locks a row while it tries to send it.
    await waitFor(() => db.query(`delete from outbox where topic = 'event'`), { timeout: 30_000, describe: 'the outbox to be unlocked' })
  })

  test('is delivered to the catalogue, also when the catalogue was unavailable before', async () => {
    const received: AddEventRequest[] = []
    const catalogue = createGrpcServer({ principals: testPrincipals(), log: testLog, metrics: createMetrics('catalogue') })
    catalogue.implement(EventServiceService, {
      async addEvent(request) {
        received.push(request)
        return {}
      },
    })
    const { apiKeyId } = await createKey(users.uploader, { expireTime: inDays(3) })
    // The auth service of the fixture has no catalogue, so its notifications stay in the outbox.
    const other = await startTestAuth(database.url, { catalogueAddress: await catalogue.listen('127.0.0.1:0') })
    await waitFor(() => received.some(({ objectKey }) => objectKey === `key:${apiKeyId}`), {
      timeout: 30_000,
      describe: 'the event to arrive',
    })
    await other.stop()
    await catalogue.drain(0)
  })
})

test('deleting a user deletes its keys', async () => {
  const user = await createUser()
  const keys = [await createKey(user.userId), await createKey(user.userId)]
  for (const { value } of keys) expect((await authenticate(value)).userId).toBe(user.userId)
  await auth.users.deleteUser({ userId: user.userId }, system)
  for (const { value } of keys) await expect(authenticate(value)).rejects.toMatchObject({ reason: 'KEY_UNKNOWN' })
  expect(await db.query('select from api_key where user_id = $1', [user.userId])).toEqual([])
})
