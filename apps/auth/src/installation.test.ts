import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { createOutbox } from '@vitascope/postgres'
import { fixedMasterKeys } from '@vitascope/security'
import { testLog } from '@vitascope/testing'
import { openTestDatabase, type TestDatabase } from '../test/test-auth.ts'
import { createApiKeyStore } from './api-key/api-key-store.ts'
import { ensureInstallation, readConfiguredLookup } from './installation.ts'
import { createKeyCipher } from './key/key-encryption.ts'
import { isKeyValue } from './key/key-value.ts'

const cipher = createKeyCipher(fixedMasterKeys('a master key of this test, long enough'))
const never = new AbortController().signal
let database: TestDatabase
let folder: string
beforeEach(async () => {
  database = await openTestDatabase()
  folder = mkdtempSync(join(tmpdir(), 'vitascope-auth-'))
})
afterEach(async () => {
  await database.drop()
  rmSync(folder, { recursive: true })
})

const start = (value?: string, more: { file?: string | undefined; cipher?: typeof cipher } = {}) => {
  const { db } = database
  const file = 'file' in more ? more.file : join(folder, 'system-key')
  const outbox = createOutbox({ db, handlers: {}, log: testLog })
  return ensureInstallation({ db, outbox, cipher: more.cipher ?? cipher, source: { value, file }, log: testLog })
}
const find = (value: string) => createApiKeyStore(database.db, cipher).find(value, never)
const readKeyFile = () => readFileSync(join(folder, 'system-key'), 'utf8').trim()
const A = 'configured-value-number-A'
const B = 'configured-value-number-B'

test('concurrent and repeated first starts create one organisation, one system user and one key', async () => {
  await Promise.all([start(A), start(A)])
  await start(A)
  const { db } = database
  expect(await db.query('select organisation_id, name, active, revision from organisation')).toEqual([
    { organisation_id: '1', name: 'System', active: true, revision: '1' },
  ])
  expect(await db.query('select organisation_id, user_type, status from users')).toEqual([
    { organisation_id: '1', user_type: 'system', status: 'active' },
  ])
  expect(await db.query('select all_resources, expire_time, revoke_time from api_key')).toEqual([
    { all_resources: true, expire_time: null, revoke_time: null },
  ])
  expect(await db.query('select topic, key from outbox')).toEqual([{ topic: 'organisation.changed', key: 'organisation:1' }])
  expect(await find(A)).toMatchObject({ value: A, userType: 'system' })
  expect(await readConfiguredLookup(db)).toEqual(cipher.hash(A))
  const [next] = await db.query<{ organisation_id: string }>(`insert into organisation (name) values ('x') returning organisation_id`)
  expect(next?.organisation_id).toBe('2')
})

test('without a configured value, the first start creates a key and writes it to a file that only the owner can read', async () => {
  await Promise.all([start(), start()])
  const value = readKeyFile()
  expect(isKeyValue(value)).toBe(true)
  expect(statSync(join(folder, 'system-key')).mode & 0o777).toBe(0o600)
  expect(await find(value)).toMatchObject({ value })
  await start()
  expect(readKeyFile()).toBe(value)
})

test('no key is created when it cannot be written to the file', async () => {
  await expect(start(undefined, { file: undefined })).rejects.toThrow('VITASCOPE_NEW_SYSTEM_KEY_FILE is missing')
  await expect(start(undefined, { file: join(folder, 'nowhere', 'system-key') })).rejects.toThrow()
  expect(await database.db.query('select from api_key')).toHaveLength(0)
  await start()
  expect(await find(readKeyFile())).toBeDefined()
})

test('a new configured value replaces the key, and a missing value keeps it', async () => {
  await start()
  const result = readKeyFile()
  await start(A)
  expect(await find(result)).toBeUndefined()
  expect(await find(A)).toBeDefined()
  await start(B)
  expect(await find(A)).toBeUndefined()
  await start()
  expect(await find(B)).toBeDefined()
  await start(A)
  expect(await find(A)).toBeDefined()
  expect(await database.db.query('select from api_key')).toHaveLength(1)
})

test('a restart does not restore a revoked or regenerated key, but another configured value creates a new one', async () => {
  await start(A)
  const keys = createApiKeyStore(database.db, cipher)
  await keys.revoke({ value: A, scope: undefined }, () => undefined, never)
  await start(A)
  expect(await find(A)).toBeUndefined()
  await start(B)
  expect(await find(B)).toBeDefined()
  const regenerated = await keys.replace(B, 'a-value-of-its-own-0123', never)
  await start(B)
  expect(await find(B)).toBeUndefined()
  expect(await find(regenerated?.value ?? '')).toBeDefined()
})

test('the key of another user cannot become the system key', async () => {
  await start(A)
  const keys = createApiKeyStore(database.db, cipher)
  const call = { principal: { kind: 'service' as const, service: 'test' }, requestId: '', signal: never }
  await keys.create({ userId: '1', applicationName: 'x', resources: [], expireTime: undefined }, B, () => [], call)
  await expect(start(B)).rejects.toThrow('VITASCOPE_SYSTEM_KEY is already the key of another user')
  expect(await find(A)).toBeDefined()
})

test('a different master key is rejected at startup, before anything changes', async () => {
  await start(A)
  const other = createKeyCipher(fixedMasterKeys('another master key, long enough too'))
  await expect(start(B, { cipher: other })).rejects.toThrow('VITASCOPE_MASTER_KEY_FILE')
  expect(await find(A)).toBeDefined()
})
