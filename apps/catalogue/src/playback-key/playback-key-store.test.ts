import { generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { buildOrganisation } from '../../test/builders.ts'
import { type CatalogueDatabase, catalogueDatabase } from '../../test/catalogue-database.ts'
import { createPlaybackPolicyStore } from '../playback-policy/playback-policy-store.ts'
import { checkNewKey, MAX_ACTIVE_KEYS, MAX_KEYS } from './playback-key.ts'
import { createPlaybackKeyStore, type PlaybackKeyStore } from './playback-key-store.ts'

let catalogue: CatalogueDatabase
let store: PlaybackKeyStore
beforeAll(async () => {
  catalogue = await catalogueDatabase()
  store = createPlaybackKeyStore(catalogue.db)
  for (const organisationId of ['7', '8']) await catalogue.organisations.apply(buildOrganisation({ organisationId }))
})
beforeEach(() => catalogue.db.query('delete from playback_key'))
afterAll(() => catalogue.close())

const call = { idempotency: undefined, signal: new AbortController().signal }
const buildKey = (more: { active?: boolean; organisationId?: string } = {}) => {
  const publicKey = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }).toString()
  return checkNewKey({ organisationId: '7', name: 'one', active: false, publicKey, ...more })
}
const create = (more: Parameters<typeof buildKey>[0] = {}) => store.create(buildKey(more), call)
const rename = (name: string) => (current: { active: boolean }) => ({ name, active: current.active })
const setActive = (active: boolean) => (current: { name: string }) => ({ name: current.name, active })

test('a key is stored, changed, listed and deleted, and each change is an event', async () => {
  // Events are only stored for webhooks.
  await catalogue.db.query(
    `insert into webhook (organisation_id, url, events, enabled, secret) values ('7', 'https://hooks.example.org/', '{playback_key.changed}', true, '')`,
  )
  const key = await create()
  expect(key).toEqual({ ...buildKey(), publicKey: key.publicKey, keyId: expect.stringMatching(/^\d+$/), createTime: expect.any(Date) })
  const target = { scope: '7', keyId: key.keyId }
  const changed = await store.update(target, rename('two'))
  expect(changed).toEqual({ ...key, name: 'two' })
  expect(await store.list('7')).toEqual([changed])
  await store.remove(target)
  expect(await store.list('7')).toEqual([])
  const events = await catalogue.db.query<{ data: object }>(`select data from event where object_key = $1 order by create_time, event_id`, [
    `playback_key:${key.keyId}`,
  ])
  const data = { organisation_id: '7', key_id: key.keyId, active: false }
  expect(events.map((event) => event.data)).toEqual(
    expect.arrayContaining([
      { ...data, name: 'one', change: 'created' },
      { ...data, name: 'two', change: 'changed' },
      { ...data, name: 'two', change: 'deleted' },
    ]),
  )
})

test('keys of another organisation are neither changed nor deleted', async () => {
  const { keyId } = await create({ organisationId: '8' })
  for (const target of [
    { scope: '7', keyId },
    { scope: '8', keyId: '999999' },
    { scope: '8', keyId: 'x' },
  ]) {
    await expect(store.update(target, rename('two'))).rejects.toMatchObject({ reason: 'PLAYBACK_KEY_NOT_FOUND' })
    await expect(store.remove(target)).rejects.toMatchObject({ reason: 'PLAYBACK_KEY_NOT_FOUND' })
  }
  expect(await store.list('8')).toHaveLength(1)
})

describe('an organisation has at most', () => {
  test('10 keys, also if they are registered at the same time', async () => {
    const results = await Promise.allSettled(Array.from({ length: MAX_KEYS + 3 }, () => create()))
    const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    expect(errors).toMatchObject(Array(3).fill({ reason: 'PLAYBACK_KEYS_FULL' }))
    expect(await store.list('7')).toHaveLength(MAX_KEYS)
    await create({ organisationId: '8' })
  })
  test('two active keys, also if they are activated at the same time', async () => {
    const keys = await Promise.all(Array.from({ length: 5 }, () => create()))
    const results = await Promise.allSettled(keys.map(({ keyId }) => store.update({ scope: '7', keyId }, setActive(true))))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(MAX_ACTIVE_KEYS)
    const active = (await store.list('7')).filter((key) => key.active)
    expect(active).toHaveLength(MAX_ACTIVE_KEYS)
    await expect(create({ active: true })).rejects.toMatchObject({ reason: 'TOO_MANY_ACTIVE_KEYS' })
    await store.update({ scope: '7', keyId: active[0]?.keyId ?? '' }, setActive(true))
    await store.update({ scope: '7', keyId: active[0]?.keyId ?? '' }, setActive(false))
    await create({ active: true })
  })
  test('one key with the same public key', async () => {
    const key = buildKey()
    await store.create(key, call)
    await expect(store.create(key, call)).rejects.toMatchObject({ reason: 'PLAYBACK_KEY_EXISTS' })
    await store.create({ ...key, organisationId: '8' }, call)
  })
})

test('a policy has the active keys of the organisation of the video', async () => {
  await create({ organisationId: '8', active: true })
  const { keyId, algorithm, publicKey } = await create({ active: true })
  const { videoId } = await catalogue.play({}, { organisationId: '7' })
  const readKeys = async () => (await createPlaybackPolicyStore(catalogue.db).find(videoId))?.keys
  expect(await readKeys()).toEqual([{ keyId, algorithm, publicKey }])
  await store.update({ scope: '7', keyId }, setActive(false))
  expect(await readKeys()).toEqual([])
})

test('every bad field of a new key is named', () => {
  expect(() => checkNewKey({ name: 'n'.repeat(101), publicKey: 'x', active: true })).toThrow(
    expect.objectContaining({ fields: [expect.objectContaining({ field: 'name' }), expect.objectContaining({ field: 'public_key' })] }),
  )
})
