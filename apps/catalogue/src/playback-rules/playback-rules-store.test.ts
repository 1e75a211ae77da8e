import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { PlaybackRule } from '@vitascope/proto/catalogue/v1/playback_rules'
import { buildOrganisation } from '../../test/builders.ts'
import { type CatalogueDatabase, catalogueDatabase } from '../../test/catalogue-database.ts'
import { createPlaybackPolicyStore } from '../playback-policy/playback-policy-store.ts'
import { NO_RULES, type PlaybackRules, type PlaybackRulesStore } from './playback-rules.ts'
import { createPlaybackRulesStore } from './playback-rules-store.ts'

let catalogue: CatalogueDatabase
let store: PlaybackRulesStore
beforeAll(async () => {
  catalogue = await catalogueDatabase()
  store = createPlaybackRulesStore(catalogue.db)
  await catalogue.organisations.apply(buildOrganisation({ organisationId: '7' }))
})
afterAll(() => catalogue.close())

const when = {
  domain: ['example.com'],
  from: new Date('2030-01-01T00:00:00.123Z'),
  until: new Date('2031-01-01T00:00:00Z'),
  unknownCountry: false,
}
const rule = PlaybackRule.fromPartial({ name: 'one', message: 'no', when })
const list = (more: Partial<PlaybackRules> = {}): PlaybackRules => ({ defaultDecision: 'deny', rules: [rule], ...more })
const findPolicy = (videoId: string) => createPlaybackPolicyStore(catalogue.db).find(videoId)

describe('the rules of a video', () => {
  test('are stored as they are sent, and replaced as a whole', async () => {
    const { videoId } = await catalogue.play({}, { organisationId: '7' })
    const target = { videoId, scope: '7' }
    expect(await store.find(target)).toEqual(NO_RULES)
    expect(await store.set(target, list())).toEqual({ ...list(), updateTime: expect.any(Date) })
    expect(await store.find(target)).toEqual({ ...list(), updateTime: expect.any(Date) })
    const replaced = list({ defaultDecision: undefined, rules: [] })
    await store.set(target, replaced)
    expect(await store.find(target)).toEqual({ ...replaced, updateTime: expect.any(Date) })
  })
  test('give its files new URLs, because caches may keep the old ones', async () => {
    const { videoId } = await catalogue.play({}, { organisationId: '7' })
    const before = await findPolicy(videoId)
    await store.set({ videoId, scope: '7' }, list())
    const after = await findPolicy(videoId)
    expect(after?.sets).toHaveLength(1)
    expect(after?.sets[0]?.version).not.toBe(before?.sets[0]?.version)
  })
  test('keep the URLs of its files if it was restricted before, or if everyone may still watch it', async () => {
    const { videoId } = await catalogue.play({}, { organisationId: '7' })
    const target = { videoId, scope: '7' }
    const readVersion = async () => (await findPolicy(videoId))?.sets[0]?.version
    const open = await readVersion()
    await store.set(target, list({ defaultDecision: undefined, rules: [{ ...rule, allows: true }] }))
    expect(await readVersion()).toBe(open)
    await store.set(target, list())
    const restricted = await readVersion()
    expect(restricted).not.toBe(open)
    await store.set(target, list({ rules: [rule, rule] }))
    await store.set(target, list({ defaultDecision: 'allow', rules: [] }))
    expect(await readVersion()).toBe(restricted)
    await store.set(target, list({ defaultDecision: undefined, rules: [rule] }))
    expect(await readVersion()).not.toBe(restricted)
  })
  test('of another organisation are neither read nor changed', async () => {
    const { videoId } = await catalogue.play({}, { organisationId: '7' })
    for (const target of [
      { videoId, scope: '8' },
      { videoId: '1', scope: '7' },
    ]) {
      await expect(store.find(target)).rejects.toMatchObject({ reason: 'VIDEO_NOT_FOUND' })
      await expect(store.set(target, list())).rejects.toMatchObject({ reason: 'VIDEO_NOT_FOUND' })
    }
    expect(await store.find({ videoId, scope: null })).toEqual(NO_RULES)
  })
})

test('a playlist has the different rules of its public videos', async () => {
  await catalogue.organisations.apply(buildOrganisation({ organisationId: '11' }))
  const play = async (fields: { visibility?: string; enabled?: boolean } = {}) =>
    (await catalogue.play(fields, { organisationId: '11' })).videoId
  const [open, alsoOpen, limited, hidden, disabled] = [
    await play(),
    await play(),
    await play(),
    await play({ visibility: 'private' }),
    await play({ enabled: false }),
  ]
  for (const videoId of [limited, hidden, disabled])
    await store.set({ videoId, scope: '11' }, list({ rules: [{ ...rule, name: videoId }] }))
  await catalogue.db.query(
    `insert into playlist (playlist_id, organisation_id, playlist_type, title, description, monetization_url, randomise, video_limit,
       open_in_playlist_view, settings, monetization_json, created_by_user_id)
     values (77, 11, 'standard', '', '', '', false, 0, false, '', '', '7')`,
  )
  for (const [position, videoId] of [open, alsoOpen, limited, hidden, disabled].entries())
    await catalogue.db.query('insert into playlist_video (playlist_id, position, video_id) values (77, $1, $2)', [position, videoId])
  const found = await store.findOfPlaylist('77')
  expect(found).toHaveLength(2)
  expect(found).toEqual(
    expect.arrayContaining([
      { videoRules: [], organisationRules: [], deniesByDefault: false },
      { videoRules: [{ ...rule, name: limited }], organisationRules: [], deniesByDefault: true },
    ]),
  )
  expect(await store.findOfPlaylist('78')).toEqual([])
})

test('a policy has the rules of the video and of its organisation, and the default of the video or else of its organisation', async () => {
  await catalogue.organisations.apply(buildOrganisation({ organisationId: '9' }))
  const { videoId } = await catalogue.play({}, { organisationId: '9' })
  const organisationRule = { ...rule, name: 'of the organisation' }
  await store.set({ organisationId: '9' }, list({ rules: [organisationRule] }))
  expect(await findPolicy(videoId)).toMatchObject({ videoRules: [], organisationRules: [organisationRule], deniesByDefault: true })
  await store.set({ videoId, scope: '9' }, list({ defaultDecision: 'allow' }))
  expect(await findPolicy(videoId)).toMatchObject({ videoRules: [rule], organisationRules: [organisationRule], deniesByDefault: false })
  await store.set({ videoId, scope: '9' }, list({ defaultDecision: undefined }))
  expect(await findPolicy(videoId)).toMatchObject({ deniesByDefault: true })
})
