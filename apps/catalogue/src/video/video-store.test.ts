import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { buildOrganisation, createCall } from '../../test/builders.ts'
import { type CatalogueDatabase, catalogueDatabase } from '../../test/catalogue-database.ts'
import { createContactFormStore } from '../contact-form/contact-form-store.ts'
import { createPlaybackPolicyStore } from '../playback-policy/playback-policy-store.ts'
import { insertPresentation } from '../presentation/presentation-store.ts'
import { DEFAULT_SETTING } from '../setting/setting.ts'
import { createSettingStore } from '../setting/setting-store.ts'
import { DEFAULT_THEME } from '../theme/theme.ts'
import { createThemeStore } from '../theme/theme-store.ts'
import type { VideoFields } from './video-fields.ts'

let catalogue: CatalogueDatabase
beforeAll(async () => {
  catalogue = await catalogueDatabase()
})
afterAll(() => catalogue.close())

const change = (videoId: string, fields: Partial<VideoFields>) =>
  catalogue.videos.update({ scope: '1', videoId }, '8', (current) => ({ ...current, ...fields }))
const readVersion = async (videoId: string) => (await catalogue.videos.find(null, videoId))?.deliveryVersion

describe('every field', () => {
  test('is returned as it was stored', async () => {
    const settingId = await createSettingStore(catalogue.db, catalogue.enqueue).create(
      { organisationId: '1', userId: '7', fields: DEFAULT_SETTING, passwordHash: null },
      createCall(),
    )
    const { themeId } = await createThemeStore(catalogue.db).create(
      { organisationId: '1', userId: '7', fields: DEFAULT_THEME },
      createCall(),
    )
    const form = { primaryText: 'Hello', secondaryText: '', reference: '', optInMessage: '', buttonText: '' }
    const captured = { captureNames: false, captureCompanyName: false, captureOptIn: false, gated: false }
    const { contactFormId } = await createContactFormStore(catalogue.db).create(
      { organisationId: '1', userId: '7', ...form, ...captured },
      createCall(),
    )
    const presentation = { organisationId: '1', userId: '7', videoId: '', title: 'Slides', description: '' }
    await catalogue.db.transaction((tx) => insertPresentation(tx, '41', presentation))
    const specialText = '👩‍👩‍👧 <b>"\'; drop table video;-- \u202e\u0301 ﷽ \u0001\u2028'
    const fields = {
      title: specialText,
      mediaTitle: `${specialText}!`,
      description: specialText,
      descriptionPrivate: specialText,
      language: 'pt-BR',
      category: specialText,
      publishedWidth: 640,
      publishedHeight: 360,
      enabled: false,
      visibility: 'unlisted',
      ageRating: '16',
      tags: ['a"b', '{c}', '\\', 'NULL'],
      contentExpiry: { expireTime: new Date('2031-02-03T04:05:06.789Z'), message: specialText },
      sharing: { text: specialText, embedWithinSocial: true },
      languages: [{ code: 'en', title: specialText }],
      chapters: [
        { title: specialText.slice(0, 100), startMs: 0 },
        { title: 'Questions', startMs: 95_500 },
      ],
      hd: { allow: false, auto: true },
      location: { country: 'NL', city: specialText, postcode: '1011', latitude: 52.1, longitude: -4.25 },
      captionsShowOnLoad: '3',
      javascriptApiJson: '{"__proto__": {"a":  1}, "b": "\\u0000\\ud800"}',
      monetizationJson: '{}',
      eventsTriggeredByClickJson: '{"x":[1]}',
      presentationId: '41',
      settingId,
      themeId,
      contactFormId,
      tokenRequired: true,
      allowedIps: ['192.0.2.0/24', '2001:db8::1'],
    } satisfies VideoFields
    const { videoId } = await catalogue.upload()
    await change(videoId, fields)
    expect(await catalogue.videos.find('1', videoId)).toMatchObject({
      ...fields,
      lastModifiedById: '8',
      creatorId: '7',
      ipRestricted: true,
    })
  })
})

describe('a video of another organisation', () => {
  test('returns the same error as a missing one', async () => {
    const { videoId } = await catalogue.upload()
    expect(await catalogue.videos.find('2', videoId)).toBeUndefined()
    const key = { scope: '2', videoId }
    const expectedError = { kind: 'not_found', reason: 'VIDEO_NOT_FOUND', message: `no video ${videoId}` }
    await expect(catalogue.videos.update(key, '8', (current) => ({ ...current, title: 'mine' }))).rejects.toMatchObject(expectedError)
    await expect(catalogue.videos.remove(key)).rejects.toMatchObject(expectedError)
    expect(await catalogue.videos.find('1', videoId)).toMatchObject({ title: 'Launch', lastModifiedById: '7' })
  })
})

test('the allowed IPs of the organisation restrict its videos', async () => {
  await catalogue.organisations.apply(buildOrganisation({ organisationId: '3', allowedIps: ['192.0.2.1'] }))
  const { videoId } = await catalogue.upload({}, { organisationId: '3' })
  expect(await catalogue.videos.find('3', videoId)).toMatchObject({ ipRestricted: true, allowedIps: [] })
})

describe('deleting videos of a media', () => {
  test('the only video cannot be deleted', async () => {
    const { videoId } = await catalogue.upload()
    await expect(catalogue.videos.remove({ scope: '1', videoId })).rejects.toMatchObject({
      kind: 'failed_precondition',
      reason: 'ONLY_PUBLISH',
    })
  })
  test.each([2, 2, 2, 2, 2, 4, 6])('one of %d videos remains if all are deleted concurrently', async (publishes) => {
    const { videoId, mediaId } = await catalogue.upload()
    const videoIds = [videoId]
    while (videoIds.length < publishes) videoIds.push((await catalogue.media.publish({ scope: '1', mediaId }, '7', createCall())).videoId)
    const results = await Promise.allSettled(videoIds.map((id) => catalogue.videos.remove({ scope: '1', videoId: id })))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(publishes - 1)
    const remaining = await Promise.all(videoIds.map((id) => catalogue.videos.find('1', id)))
    expect(remaining.filter((video) => video !== undefined)).toHaveLength(1)
  })
  test('one of two concurrent deletions of a video succeeds', async () => {
    const { videoId, mediaId } = await catalogue.upload()
    await catalogue.media.publish({ scope: '1', mediaId }, '7', createCall())
    const results = await Promise.allSettled([1, 2].map(() => catalogue.videos.remove({ scope: '1', videoId })))
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(results.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { reason: 'VIDEO_NOT_FOUND' } })
  })
})

test('no change of twenty concurrent ones is lost', async () => {
  const { videoId } = await catalogue.upload()
  const add = (tag: string) =>
    catalogue.videos.update({ scope: '1', videoId }, '8', (current) => ({ ...current, tags: [...current.tags, tag] }))
  await Promise.all(Array.from({ length: 20 }, (_, i) => add(`t${i}`)))
  expect((await catalogue.videos.find('1', videoId))?.tags).toHaveLength(20)
})

describe('restricting access', () => {
  test.each<[string, Partial<VideoFields>]>([
    ['requiring a token', { tokenRequired: true }],
    ['setting allowed IPs', { allowedIps: ['192.0.2.1'] }],
    ['disabling the video', { enabled: false }],
  ])('by %s invalidates the previous delivery URLs, including those of replaced sets', async (_, fields) => {
    const { videoId, mediaId } = await catalogue.play()
    const { jobId } = await catalogue.media.replace(
      { scope: '1', mediaId },
      { sourceUrl: 'https://example.org/b.mp4', userId: '7', startsWaiting: false },
      createCall(),
    )
    const { renditions } = (await catalogue.videos.find('1', videoId)) ?? {}
    if (!renditions) throw new Error('the video has no renditions')
    await catalogue.jobs.apply(jobId, { kind: 'published', renditions: { ...renditions, jobId, prefix: 'new' } }, 1)
    const policies = createPlaybackPolicyStore(catalogue.db)
    const before = await policies.find(videoId)
    expect(before?.sets).toHaveLength(2)
    await change(videoId, fields)
    await change(videoId, { enabled: true })
    const after = await policies.find(videoId)
    expect(after?.sets).toEqual([{ version: await readVersion(videoId), prefix: 'new' }])
    expect(before?.sets.map(({ version }) => version)).not.toContain(after?.sets[0]?.version)
  })
  test('by a token invalidates the URLs of all videos of the media; allowed IPs invalidate only those of the video', async () => {
    const { videoId, mediaId } = await catalogue.play()
    const other = await catalogue.media.publish({ scope: '1', mediaId }, '7', createCall())
    const otherVersion = await readVersion(other.videoId)
    await change(videoId, { allowedIps: ['192.0.2.1'] })
    expect(await readVersion(other.videoId)).toBe(otherVersion)
    await change(videoId, { tokenRequired: true })
    expect(await readVersion(other.videoId)).not.toBe(otherVersion)
    expect(await catalogue.videos.find('1', other.videoId)).toMatchObject({ tokenRequired: true })
  })
  test('is the only change that invalidates delivery URLs', async () => {
    const { videoId } = await catalogue.play()
    const version = await readVersion(videoId)
    expect(version).toMatch(/^[a-z0-9]{16}$/)
    await change(videoId, { title: 'Landing', tokenRequired: false, enabled: true })
    expect(await readVersion(videoId)).toBe(version)
  })
})
