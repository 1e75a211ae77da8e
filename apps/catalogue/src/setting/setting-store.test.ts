import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createOutbox } from '@vitascope/postgres'
import { testLog, waitFor } from '@vitascope/testing'
import { buildOrganisation, createCall } from '../../test/builders.ts'
import { type CatalogueDatabase, catalogueDatabase } from '../../test/catalogue-database.ts'
import { rotateUrlsHandlers } from './rotate-urls.ts'
import { DEFAULT_SETTING, type SettingFields } from './setting.ts'
import { createSettingStore, type NewSetting, type SettingStore } from './setting-store.ts'

let catalogue: CatalogueDatabase
let settings: SettingStore
beforeAll(async () => {
  catalogue = await catalogueDatabase()
  settings = createSettingStore(catalogue.db, catalogue.enqueue)
})
afterAll(() => catalogue.close())

let revision = 1
const make = (fields: Partial<SettingFields> = {}, more: Partial<NewSetting> = {}) =>
  settings.create(
    { organisationId: '1', userId: '7', fields: { ...DEFAULT_SETTING, ...fields }, passwordHash: null, ...more },
    createCall(),
  )
const find = (settingId: string, scope: string | null = '1') => settings.find({ scope, settingId })
const setDefault = (defaultSettingId: string, organisationId = '1') =>
  catalogue.organisations.apply({ ...buildOrganisation({ organisationId, revision: ++revision }), defaultSettingId })
const nameOn = (videoId: string, settingId: string) =>
  catalogue.videos.update({ scope: null, videoId }, '8', (current) => ({ ...current, settingId }))
const forgeToken = (values: unknown[]) => Buffer.from(JSON.stringify(values)).toString('base64url')
const video = (videoId: string) => catalogue.videos.find(null, videoId)

test('every field is returned as it was stored and as it was changed', async () => {
  const { videoId } = await catalogue.upload()
  const unsafeText = `👩‍👩‍👧 <b>"'; drop table setting;-- \u202e\u2028`
  const fields: SettingFields = {
    ...DEFAULT_SETTING,
    title: unsafeText,
    allowSharing: true,
    allowDownload: true,
    lowestQualityVersion: 250,
    highestQualityVersion: 6_000,
    rolls: `{"pre":["${videoId}"],"post":[],"show_timer":true}`,
    logoAssetId: unsafeText,
    logoDestinationUrl: 'https://example.org/',
    captionsDefaultOn: true,
    gaTrackerId: 'UA-1',
    gaTrackerDomain: 'example.org',
    gaLibrary: 'universal',
    monetization: '{"b":1,  "a":"\\u0000"}',
    useHttpsEmbed: false,
    monetizationId: Number.MAX_SAFE_INTEGER,
    maxSessions: 3,
    embedWmode: 'opaque',
    javascriptApiAllowedDomains: unsafeText,
  }
  const settingId = await make(fields, { passwordHash: 'hash' })
  const author = { createdByUserId: '7', lastModifiedByUserId: '7', organisationId: '1', passwordProtected: true }
  expect(await find(settingId)).toEqual({ settingId, ...fields, ...author, createTime: expect.any(Date), updateTime: expect.any(Date) })
  const inverted = Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, typeof value === 'boolean' ? !value : value]))
  const change = { ...fields, ...inverted, monetizationId: undefined, maxSessions: undefined }
  const changed = await settings.update({ scope: '1', settingId }, '8', () => ({ fields: change, passwordHash: undefined }))
  expect(changed).toMatchObject({ ...change, passwordProtected: true, createdByUserId: '7', lastModifiedByUserId: '8' })
  expect(await find(settingId)).toEqual(changed)
})

describe('pre-roll and post-roll videos', () => {
  const toRolls = (...pre: string[]) => JSON.stringify({ pre, post: pre.slice(0, 1) })
  const missing = (videoId: string) => ({ kind: 'not_found', reason: 'VIDEO_NOT_FOUND', message: `no video ${videoId}` })
  test('must belong to the organisation, and a foreign video returns the same error as a missing one', async () => {
    const own = (await catalogue.upload()).videoId
    const foreign = (await catalogue.upload({}, { organisationId: '2' })).videoId
    const settingId = await make({ rolls: toRolls(own) })
    const set = (rolls: string, scope: string | null = '1') =>
      settings.update({ scope, settingId }, '8', (fields) => ({ fields: { ...fields, rolls }, passwordHash: undefined }))
    for (const id of [foreign, '999999']) {
      await expect(make({ rolls: toRolls(own, id) })).rejects.toMatchObject(missing(id))
      await expect(make({ rolls: JSON.stringify({ post: [id] }) })).rejects.toMatchObject(missing(id))
      await expect(set(toRolls(own, id))).rejects.toMatchObject(missing(id))
      await expect(set(toRolls(id), null)).rejects.toMatchObject(missing(id))
    }
    expect((await find(settingId))?.rolls).toBe(toRolls(own))
    expect((await set(toRolls(own, (await catalogue.upload()).videoId))).rolls).not.toBe(toRolls(own))
    expect((await set('')).rolls).toBe('')
  })
  test('may be deleted later, and the profile can still be stored as it was read', async () => {
    const { videoId } = await catalogue.upload()
    const settingId = await make({ rolls: toRolls(videoId) })
    await catalogue.db.query('delete from video where video_id = $1', [videoId])
    const renameOnly = (fields: SettingFields) => ({ fields: { ...fields, title: 'B' }, passwordHash: undefined })
    expect((await settings.update({ scope: '1', settingId }, '8', renameOnly)).title).toBe('B')
    await expect(make({ rolls: toRolls(videoId) })).rejects.toMatchObject(missing(videoId))
  })
})

test('a password is kept, changed and removed', async () => {
  const settingId = await make({}, { passwordHash: 'first' })
  const { videoId } = await catalogue.upload({ settingId })
  const set = (passwordHash: string | null | undefined) =>
    settings.update({ scope: '1', settingId }, '8', (fields) => ({ fields, passwordHash }))
  await set(undefined)
  expect(await settings.findPasswordOfVideo(videoId)).toBe('first')
  await set('second')
  expect(await settings.findPasswordOfVideo(videoId)).toBe('second')
  expect((await set(null)).passwordProtected).toBe(false)
  expect(await settings.findPasswordOfVideo(videoId)).toBeUndefined()
})

test('a profile of another organisation returns the same error as a missing one', async () => {
  const settingId = await make()
  const expectedError = { kind: 'not_found', reason: 'SETTING_NOT_FOUND', message: `no setting ${settingId}` }
  expect(await find(settingId, '2')).toBeUndefined()
  const change = (fields: SettingFields) => ({ fields, passwordHash: undefined })
  await expect(settings.update({ scope: '2', settingId }, '8', change)).rejects.toMatchObject(expectedError)
  await expect(settings.remove({ scope: '2', settingId })).rejects.toMatchObject(expectedError)
  expect(await find(settingId, null)).toMatchObject({ settingId })
})

test('a repeated creation with one idempotency key creates one profile', async () => {
  const call = createCall({ key: 'a'.repeat(64), fingerprint: 'b'.repeat(64) })
  const setting = { organisationId: '1', userId: '7', fields: DEFAULT_SETTING, passwordHash: null }
  expect(await settings.create(setting, call)).toBe(await settings.create(setting, call))
})

test('a list pages in the order of creation, within its organisation', async () => {
  await catalogue.organisations.apply(buildOrganisation({ organisationId: '3' }))
  const ids: string[] = []
  for (const title of ['a', 'b', 'c', 'd', 'e']) ids.push(await make({ title }, { organisationId: '3' }))
  const first = await settings.list('3', { size: 2, token: '', skip: 1 })
  expect(first.settings.map(({ settingId }) => settingId)).toEqual(ids.slice(1, 3))
  const second = await settings.list('3', { size: 2, token: first.nextPageToken, skip: 0 })
  expect(second.settings.map(({ title }) => title)).toEqual(['d', 'e'])
  expect(second.nextPageToken).toBe('')
  for (const values of [['x'], ['0'], ['-1'], ['1', '2'], ['9223372036854775808'], [1]]) {
    await expect(settings.list('3', { size: 2, token: forgeToken(values), skip: 0 })).rejects.toMatchObject({
      fields: [{ field: 'page_token' }],
    })
  }
})

describe('the profile of a video', () => {
  const readPlayerSettings = async (videoId: string) => {
    const { settingId, downloadAllowed } = (await video(videoId)) ?? {}
    return { named: settingId, downloadAllowed, has: (await settings.findOfVideo(videoId))?.settingId }
  }
  test('is the one that it names, or else the default of its organisation, or else none', async () => {
    const own = await make({ allowDownload: true })
    const byDefault = await make({ allowDownload: false }, { passwordHash: 'default' })
    const { videoId } = await catalogue.upload()
    expect(await readPlayerSettings(videoId)).toEqual({ named: '', downloadAllowed: false, has: undefined })
    await setDefault(byDefault)
    expect(await readPlayerSettings(videoId)).toEqual({ named: '', downloadAllowed: false, has: byDefault })
    expect(await settings.findPasswordOfVideo(videoId)).toBe('default')
    await nameOn(videoId, own)
    expect(await readPlayerSettings(videoId)).toEqual({ named: own, downloadAllowed: true, has: own })
    expect(await settings.findPasswordOfVideo(videoId)).toBeUndefined()
    await settings.remove({ scope: '1', settingId: own })
    expect(await readPlayerSettings(videoId)).toEqual({ named: '', downloadAllowed: false, has: byDefault })
    await setDefault('')
    expect(await readPlayerSettings(videoId)).toEqual({ named: '', downloadAllowed: false, has: undefined })
  })
  test('is never a profile of another organisation', async () => {
    const foreign = await make({ allowDownload: true }, { organisationId: '2', passwordHash: 'foreign' })
    await setDefault(foreign)
    const { videoId } = await catalogue.upload()
    expect(await readPlayerSettings(videoId)).toEqual({ named: '', downloadAllowed: false, has: undefined })
    await catalogue.db.query('update video set setting_id = $2 where video_id = $1', [videoId, foreign])
    expect(await readPlayerSettings(videoId)).toEqual({ named: '', downloadAllowed: false, has: undefined })
    await setDefault('')
  })
  test.each(['an update', 'an upload'])('is not changed by %s with an unknown or foreign profile', async (cause) => {
    const foreign = await make({}, { organisationId: '2' })
    for (const settingId of [foreign, '999999', '9223372036854775807']) {
      const { videoId } = await catalogue.upload()
      const run = cause === 'an upload' ? catalogue.upload({ settingId, title: 'X' }) : nameOn(videoId, settingId)
      await expect(run).rejects.toMatchObject({ kind: 'not_found', reason: 'SETTING_NOT_FOUND' })
      expect(await video(videoId)).toMatchObject({ settingId: '', title: 'Launch' })
      expect(await catalogue.db.query(`select from video where title = 'X'`)).toEqual([])
    }
  })
})

describe('deleting', () => {
  test('a profile with a password is rejected while a video names it and it has the password', async () => {
    const settingId = await make({}, { passwordHash: 'hash' })
    await catalogue.upload({ settingId })
    const key = { scope: '1', settingId }
    await expect(settings.remove(key)).rejects.toMatchObject({ kind: 'failed_precondition', reason: 'SETTING_IN_USE' })
    await settings.update(key, '7', (fields) => ({ fields, passwordHash: null }))
    await settings.remove(key)
    await expect(settings.remove(key)).rejects.toMatchObject({ reason: 'SETTING_NOT_FOUND' })
  })
  test.each(['hash', null])('the default profile is rejected, also without a video and with the password hash %j', async (passwordHash) => {
    const settingId = await make({}, { passwordHash, organisationId: '2' })
    await setDefault(settingId, '2')
    const expectedError = {
      kind: 'failed_precondition',
      reason: 'SETTING_IN_USE',
      message: expect.stringContaining('another default_setting_id'),
    }
    await expect(settings.remove({ scope: null, settingId })).rejects.toMatchObject(expectedError)
    await setDefault('', '2')
    await settings.remove({ scope: null, settingId })
  })
  test.each([1, 2, 3, 4, 5])('never removes the password of a video that names the profile at the same time (%d)', async () => {
    const settingId = await make({}, { passwordHash: 'hash' })
    const { videoId } = await catalogue.upload()
    const [named, removed] = await Promise.allSettled([nameOn(videoId, settingId), settings.remove({ scope: '1', settingId })])
    expect([named.status, removed.status].filter((status) => status === 'fulfilled')).toHaveLength(1)
    expect((await settings.findPasswordOfVideo(videoId)) === 'hash').toBe(named.status === 'fulfilled')
  })
})

test('twenty concurrent changes are all kept', async () => {
  const settingId = await make({ lowestQualityVersion: 100 })
  const add = () =>
    settings.update({ scope: '1', settingId }, '8', (current) => ({
      fields: { ...current, lowestQualityVersion: current.lowestQualityVersion + 1 },
      passwordHash: undefined,
    }))
  await Promise.all(Array.from({ length: 20 }, add))
  expect((await find(settingId))?.lowestQualityVersion).toBe(120)
})

test('a new password rotates the URLs of all videos of the profile, also of more than one transaction changes', async () => {
  const settingId = await make()
  const { videoId } = await catalogue.play({ settingId })
  const copies = await catalogue.db.query<{ video_id: string }>(
    `insert into video select (jsonb_populate_record(v, jsonb_build_object('video_id', g, 'delivery_version', 'old'))).*
     from video v, generate_series(1, 2500) g where v.video_id = $1 returning video_id`,
    [videoId],
  )
  expect(copies).toHaveLength(2_500)
  await catalogue.db.query('analyze')
  const countOld = async () =>
    (await catalogue.db.query(`select 1 from video where setting_id = $1 and delivery_version = 'old'`, [settingId])).length
  await settings.update({ scope: '1', settingId }, '7', (current) => ({ fields: current, passwordHash: 'hash' }))
  expect(await countOld()).toBe(2_000)
  const outbox = createOutbox({ db: catalogue.db, handlers: rotateUrlsHandlers(catalogue.db, () => catalogue.enqueue), log: testLog })
  outbox.start()
  // The last message finds that no video is left.
  const countMessages = async () => (await catalogue.messages()).filter(({ topic }) => topic === 'setting.rotate_urls').length
  await waitFor(async () => (await countMessages()) === 0, { describe: 'all messages to be handled' })
  await outbox.stop()
  expect(await countOld()).toBe(0)
})
