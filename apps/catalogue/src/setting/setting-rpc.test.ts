// Faults: A13
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Call, Principal } from '@vitascope/grpc'
import { Setting } from '@vitascope/proto/catalogue/v1/setting'
import { fixedKeys, makeTokenKeys, parseTokenKeys } from '@vitascope/security'
import { buildOrganisation } from '../../test/builders.ts'
import { type CatalogueDatabase, catalogueDatabase } from '../../test/catalogue-database.ts'
import { createContactFormStore } from '../contact-form/contact-form-store.ts'
import { createOrganisations } from '../organisation-replica/organisation.ts'
import { DEFAULT_THEME } from '../theme/theme.ts'
import { createThemeStore } from '../theme/theme-store.ts'
import { requireVisibleVideo } from '../video/visible-video.ts'
import { createPasswordHasher, type PasswordHasher } from './password-hash.ts'
import { settingHandlers } from './setting-rpc.ts'
import { createSettingStore } from './setting-store.ts'

let catalogue: CatalogueDatabase
let handlers: ReturnType<typeof settingHandlers>
let handlersWith: (passwordHasher: PasswordHasher) => typeof handlers
beforeAll(async () => {
  catalogue = await catalogueDatabase()
  const { db, videos, organisations: store } = catalogue
  await store.apply(buildOrganisation({ organisationId: '4', active: false }))
  const organisations = createOrganisations(store, async () => undefined)
  const themes = createThemeStore(db)
  const findVisibleVideo = requireVisibleVideo.bind(undefined, { videos, tokens: { isValid: async () => false } })
  handlersWith = (passwordHasher) =>
    settingHandlers({
      settings: createSettingStore(db, catalogue.enqueue),
      themes,
      contactForms: createContactFormStore(db),
      findVisibleVideo,
      organisations,
      passwordHasher,
      tokenKeys: fixedKeys(parseTokenKeys(makeTokenKeys())),
    })
  handlers = handlersWith(createPasswordHasher())
})
afterAll(() => catalogue.close())

const toCall = (principal: Principal): Call => ({ principal, requestId: 'r', signal: new AbortController().signal })
const user = (organisationId: string, userType: 'uploader' | 'system' = 'uploader') =>
  toCall({ kind: 'user', keyId: '3', userId: `7${organisationId}`, organisationId, userType })
const [owner, foreignCaller, system, guest] = [user('1'), user('2'), user('1', 'system'), toCall({ kind: 'guest' })]

const sha1 = (text: string) => createHash('sha1').update(text).digest('hex')
const create = (fields: Partial<Setting>, mask: string[], call = owner, organisationId = '1') =>
  handlers.createSetting({ organisationId, setting: Setting.fromPartial(fields), mask, validateOnly: false }, call)
const createChange = (settingId: string) => Setting.fromPartial({ settingId, password: sha1('b') })
const protect = async (password: string) => (await create({ password: sha1(password) }, ['password'])).settingId
const check = async (videoId: string, password: string, call = guest) =>
  (await handlers.checkVideoPassword({ videoId, password }, call)).matches

test('a profile is created with defaults; users may create it only in their own organisation, system callers in any', async () => {
  const { settingId } = await create({ title: 'A', passwordProtected: true, password: sha1('a') }, ['title', 'password'])
  const { setting } = await handlers.getSetting({ settingId }, owner)
  expect(setting).toMatchObject({ title: 'A', highestQualityVersion: 1200, showControls: true, gaLibrary: 'legacy', embedWmode: 'direct' })
  expect(setting).toMatchObject({ password: '', passwordProtected: true, createdByUserId: '71', organisationId: '1' })
  await expect(create({}, [], owner, '2')).rejects.toMatchObject({ reason: 'FOREIGN_ORGANISATION' })
  await expect(create({}, [], system, '99')).rejects.toMatchObject({ reason: 'ORGANISATION_NOT_FOUND' })
  await expect(create({}, [], system, 'x')).rejects.toMatchObject({ reason: 'ORGANISATION_NOT_FOUND' })
  await expect(create({}, [], system, '')).rejects.toMatchObject({ fields: [{ field: 'organisation_id' }] })
  await expect(create({}, [], guest)).rejects.toMatchObject({ reason: 'KEY_REQUIRED' })
  expect((await create({}, [], system, '2')).settingId).toMatch(/^\d+$/)
})

test('a profile of another organisation returns the same error as a missing one, for every call', async () => {
  const { settingId } = await create({ title: 'A' }, ['title'])
  const calls = (id: string) => [
    () => handlers.getSetting({ settingId: id }, foreignCaller),
    () =>
      handlers.updateSetting(
        { setting: Setting.fromPartial({ settingId: id, title: 'B' }), updateMask: ['title'], validateOnly: false },
        foreignCaller,
      ),
    () => handlers.deleteSetting({ settingId: id }, foreignCaller),
  ]
  for (const id of [settingId, '999999', '0', '-1', '1.5', `1'--`, '９', '9223372036854775808', '']) {
    for (const run of calls(id))
      await expect(run()).rejects.toMatchObject({ reason: 'SETTING_NOT_FOUND', message: `no setting ${id}`.trimEnd() })
  }
  expect((await handlers.getSetting({ settingId }, system)).setting?.title).toBe('A')
})

describe('the password of a video', () => {
  test('matches only the correct digest, and equal passwords are stored differently', async () => {
    const { videoId } = await catalogue.upload({ settingId: await protect('correct horse') })
    const other = await catalogue.upload({ settingId: await protect('correct horse') })
    expect(await check(videoId, sha1('correct horse'))).toBe(true)
    expect(await check(other.videoId, sha1('correct horse'))).toBe(true)
    const rows = await catalogue.db.query<{ password_hash: string }>('select password_hash from setting where password_hash is not null')
    expect(new Set(rows.map((row) => row.password_hash)).size).toBe(rows.length)
    const stored = rows[0]?.password_hash ?? ''
    expect(stored).toMatch(/^\$argon2id\$/)
    const upper = sha1('correct horse').toUpperCase()
    for (const tried of ['wrong', '', 'correct horse', stored, sha1(stored), sha1(sha1('correct horse')), upper, sha1(upper)]) {
      expect(await check(videoId, tried)).toBe(false)
    }
  })
  test('never matches without a profile', async () => {
    const { videoId } = await catalogue.upload()
    expect(await check(videoId, sha1(''))).toBe(false)
  })
  test('can be checked by every caller that may see the video', async () => {
    const settingId = await protect('a')
    const { videoId } = await catalogue.upload({ settingId, enabled: false })
    await expect(check(videoId, sha1('a'))).rejects.toMatchObject({ reason: 'VIDEO_NOT_FOUND' })
    await expect(check(videoId, sha1('a'), foreignCaller)).rejects.toMatchObject({ reason: 'VIDEO_NOT_FOUND' })
    expect(await check(videoId, sha1('a'), owner)).toBe(true)
    expect(await check(videoId, sha1('a'), system)).toBe(true)
    for (const id of ['8123456789012345678', 'x', '']) await expect(check(id, '')).rejects.toMatchObject({ reason: 'VIDEO_NOT_FOUND' })
    const expired = await catalogue.upload({ settingId, contentExpiry: { expireTime: new Date(0), message: 'Gone' } })
    await expect(check(expired.videoId, '')).rejects.toMatchObject({ reason: 'VIDEO_EXPIRED', message: 'Gone' })
    const inactive = await catalogue.upload({}, { organisationId: '4' })
    await expect(check(inactive.videoId, '')).rejects.toMatchObject({ reason: 'VIDEO_NOT_FOUND' })
  })
  test('is checked in the queue of the organisation that owns the video, and hashed in the queue of the one that owns the profile', async () => {
    const { videoId } = await catalogue.upload({ settingId: await protect('b') })
    const foreignSettingId = (await create({ password: sha1('b') }, ['password'], system, '2')).settingId
    const other = await catalogue.upload({ settingId: foreignSettingId }, { organisationId: '2' })
    const groups: string[] = []
    const recordingHandlers = handlersWith({
      async hash(_, group) {
        groups.push(group)
        return 'made'
      },
      async matches(_, __, group) {
        groups.push(group)
        return true
      },
    })
    for (const id of [videoId, other.videoId]) await recordingHandlers.checkVideoPassword({ videoId: id, password: sha1('b') }, owner)
    await recordingHandlers.updateSetting(
      { setting: createChange(foreignSettingId), updateMask: ['password'], validateOnly: false },
      system,
    )
    await recordingHandlers.createSetting(
      { organisationId: '1', setting: createChange(''), mask: ['password'], validateOnly: false },
      owner,
    )
    expect(groups).toEqual(['try 1', 'try 2', 'set 2', 'set 1'])
  })
  test('is not hashed for a foreign profile or a rejected request', async () => {
    const settingId = await protect('c')
    const fail = async () => {
      throw new Error('hashed without need')
    }
    const failingHandlers = handlersWith({ hash: fail, matches: fail })
    const update = (id: string, updateMask: string[], call: Call) =>
      failingHandlers.updateSetting({ setting: { ...createChange(id), title: 'x'.repeat(51) }, updateMask, validateOnly: false }, call)
    await expect(update(settingId, ['password'], foreignCaller)).rejects.toMatchObject({ reason: 'SETTING_NOT_FOUND' })
    await expect(update('999999', ['password'], system)).rejects.toMatchObject({ reason: 'SETTING_NOT_FOUND' })
    await expect(update(settingId, ['password', 'title'], owner)).rejects.toMatchObject({ fields: [{ field: 'title' }] })
    await expect(update(settingId, ['password'], owner)).rejects.toThrow('hashed without need')
  })
})

test('the profile of a video is returned without its password to every caller that may see the video', async () => {
  const settingId = await protect('c')
  const { videoId } = await catalogue.upload({ settingId })
  const { setting } = await handlers.findVideoSetting({ videoId, token: '' }, guest)
  expect(setting).toMatchObject({ settingId, passwordProtected: true, password: '' })
  expect(JSON.stringify(setting)).not.toMatch(/argon2|[0-9a-f]{40}/)
  const hidden = await catalogue.upload({ settingId, enabled: false })
  await expect(handlers.findVideoSetting({ ...hidden, token: '' }, foreignCaller)).rejects.toMatchObject({ reason: 'VIDEO_NOT_FOUND' })
  expect((await handlers.findVideoSetting({ videoId: (await catalogue.upload()).videoId, token: '' }, guest)).setting).toBeUndefined()
})

test('the profile of a video is returned with the theme of the video', async () => {
  const fields = { ...DEFAULT_THEME, iconColour: '#112233' }
  const { themeId } = await createThemeStore(catalogue.db).create({ organisationId: '1', userId: '7', fields }, guest)
  const { videoId } = await catalogue.upload({ themeId })
  expect((await handlers.findVideoSetting({ videoId, token: '' }, guest)).theme).toMatchObject({ themeId, iconColour: '#112233' })
  expect((await handlers.findVideoSetting({ videoId: (await catalogue.upload()).videoId, token: '' }, guest)).theme).toBeUndefined()
})

test('the profile of a video is returned with the fields of its contact form that viewers see', async () => {
  const { contactFormId } = await createContactFormStore(catalogue.db).create({ ...form, organisationId: '1', userId: '7' }, owner)
  const { videoId } = await catalogue.upload({ contactFormId })
  const { contactForm } = await handlers.findVideoSetting({ videoId, token: '' }, guest)
  const { reference: _, ...shown } = form
  expect(contactForm).toEqual({ contactFormId, ...shown })
  const other = await catalogue.upload()
  expect((await handlers.findVideoSetting({ videoId: other.videoId, token: '' }, guest)).contactForm).toBeUndefined()
})

const form = {
  ...{ primaryText: 'Who are you?', secondaryText: '', reference: 'internal', optInMessage: 'Write to me', buttonText: 'Watch' },
  ...{ captureNames: true, captureCompanyName: false, captureOptIn: true, gated: true },
}

test('users can list the profiles of their own organisation only', async () => {
  const list = (organisationId: string, call: Call, more = {}) =>
    handlers.listSettings({ organisationId, pageSize: 0, pageToken: '', skip: 0, ...more }, call)
  expect((await list('', foreignCaller)).settings.every((setting) => setting.organisationId === '2')).toBe(true)
  await expect(list('1', foreignCaller)).rejects.toMatchObject({ reason: 'FOREIGN_ORGANISATION' })
  await expect(list('1', foreignCaller, { skip: -1 })).rejects.toMatchObject({ reason: 'FOREIGN_ORGANISATION' })
  await expect(list('1', owner, { skip: -1 })).rejects.toMatchObject({ fields: [{ field: 'skip' }] })
  await expect(list('1', owner, { pageToken: 'x' })).rejects.toMatchObject({ fields: [{ field: 'page_token' }] })
  await expect(list('', system)).rejects.toMatchObject({ fields: [{ field: 'organisation_id' }] })
})
