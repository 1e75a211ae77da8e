import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { buildOrganisation } from '../../test/builders.ts'
import { type CatalogueDatabase, catalogueDatabase } from '../../test/catalogue-database.ts'
import { createPlaybackPolicyStore } from './playback-policy-store.ts'

let catalogue: CatalogueDatabase
beforeAll(async () => {
  catalogue = await catalogueDatabase()
})
afterAll(() => catalogue.close())

const findPolicy = (videoId: string) => createPlaybackPolicyStore(catalogue.db).find(videoId)

test('a playable video without restrictions is public', async () => {
  const { videoId, jobId } = await catalogue.play()
  expect(await findPolicy(videoId)).toEqual({
    organisationId: '1',
    sets: [{ version: expect.stringMatching(/^[a-z0-9]{16}$/), prefix: `renditions/${jobId}` }],
    added: [],
    poster: undefined,
    tokenRequired: false,
    isPrivate: false,
    maxSessions: 0,
    passwordRequired: false,
    allowedIps: [],
    expireTime: undefined,
    videoRules: [],
    organisationRules: [],
    deniesByDefault: false,
    keys: [],
    masterPath: 'hls/master.m3u8',
    durationSeconds: 12.48,
    lowestHeight: expect.any(Number),
    captions: [],
  })
})

describe('the allowed IPs', () => {
  test('are those of the video, or else those of its organisation', async () => {
    await catalogue.organisations.apply(buildOrganisation({ organisationId: '5', allowedIps: ['192.0.2.0/24'] }))
    const inherits = await catalogue.play({}, { organisationId: '5' })
    const own = await catalogue.play({ allowedIps: ['198.51.100.1'] }, { organisationId: '5' })
    expect((await findPolicy(inherits.videoId))?.allowedIps).toEqual(['192.0.2.0/24'])
    expect((await findPolicy(own.videoId))?.allowedIps).toEqual(['198.51.100.1'])
  })
})

describe('there is no policy for', () => {
  test.each([
    ['a disabled video', { enabled: false }],
    ['an expired video', { contentExpiry: { expireTime: new Date('2020-01-01T00:00:00Z'), message: '' } }],
  ])('%s', async (_, fields) => {
    const { videoId } = await catalogue.play(fields)
    expect(await findPolicy(videoId)).toBeUndefined()
  })
  test('a video without files', async () => {
    expect(await findPolicy((await catalogue.upload()).videoId)).toBeUndefined()
  })
  test('a video of an inactive organisation', async () => {
    await catalogue.organisations.apply(buildOrganisation({ organisationId: '6' }))
    const { videoId } = await catalogue.play({}, { organisationId: '6' })
    expect(await findPolicy(videoId)).toBeDefined()
    await catalogue.organisations.apply(buildOrganisation({ organisationId: '6', revision: 2, active: false }))
    expect(await findPolicy(videoId)).toBeUndefined()
  })
  test('an unknown video', async () => {
    expect(await findPolicy('1')).toBeUndefined()
  })
})

test('a future expiry is reported', async () => {
  const expireTime = new Date('2099-01-01T00:00:00Z')
  const { videoId } = await catalogue.play({ contentExpiry: { expireTime, message: '' } })
  expect((await findPolicy(videoId))?.expireTime).toEqual(expireTime)
})

test('an expired video has a policy for explanations only', async () => {
  const expireTime = new Date('2020-01-01T00:00:00Z')
  const { videoId } = await catalogue.play({ contentExpiry: { expireTime, message: '' } })
  expect(await findPolicy(videoId)).toBeUndefined()
  expect(await createPlaybackPolicyStore(catalogue.db).findIncludingExpired(videoId)).toMatchObject({ expireTime })
})
