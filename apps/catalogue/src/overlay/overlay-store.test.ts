import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { createCall } from '../../test/builders.ts'
import { type CatalogueDatabase, catalogueDatabase } from '../../test/catalogue-database.ts'
import { createOverlay } from '../../test/overlay-builder.ts'
import { createOverlayStore, type OverlayStore } from './overlay-store.ts'

let catalogue: CatalogueDatabase
let overlays: OverlayStore
let mediaId: string
let videoId: string

beforeAll(async () => {
  catalogue = await catalogueDatabase()
  overlays = createOverlayStore(catalogue.db)
})
afterAll(() => catalogue.close())
beforeEach(async () => {
  const upload = await catalogue.upload()
  mediaId = upload.mediaId
  videoId = upload.videoId
})

const create = (fields: Parameters<typeof createOverlay>[0] = {}, scope: string | null = '1', call = createCall()) =>
  overlays.create(scope, createOverlay({ mediaId, ...fields }), call)
const listOverlays = async () => (await catalogue.videos.find('1', videoId))?.overlays

describe('an overlay', () => {
  test('is returned as stored, and is in the record of each video of its media', async () => {
    const fields = createOverlay({
      mediaId,
      ...{
        atEnd: true,
        startSeconds: 3,
        endSeconds: 90,
        description: '“ä” \u2028 \\ 😀',
        imagePath: '/a.png',
        linkText: 'Go',
        language: 'en',
      },
      ...{ linkUrl: 'https://example.org/?a="b"&c=\'d\'', linkAction: 'open', linkTarget: '_blank', width: 320, height: 180 },
      linkJavascriptCode: '</script><script>alert(1)</script>',
    })
    const created = await overlays.create('1', fields, createCall())
    expect(created).toEqual({
      ...fields,
      overlayId: expect.any(String),
      organisationId: '1',
      createTime: expect.any(Date),
      updateTime: expect.any(Date),
    })
    expect(await overlays.find({ scope: '1', overlayId: created.overlayId })).toEqual(created)
    const { mediaId: _, disabled: __, ...listedFields } = fields
    expect(await listOverlays()).toEqual([{ ...listedFields, overlayId: created.overlayId }])
    const { videoId: second } = await catalogue.media.publish({ scope: '1', mediaId }, '7', createCall())
    expect((await catalogue.videos.find('1', second))?.overlays).toEqual(await listOverlays())
  })
  test('is in the records of its media unless it is disabled, oldest first', async () => {
    const { overlayId } = await create({ title: 'First' })
    await create({ title: 'Hidden', disabled: true })
    await create({ title: 'Second' })
    await create({ title: 'Elsewhere', mediaId: '' })
    expect((await listOverlays())?.map(({ title }) => title)).toEqual(['First', 'Second'])
    await overlays.update({ scope: '1', overlayId }, '', (current) => ({ ...current, disabled: true }))
    expect((await listOverlays())?.map(({ title }) => title)).toEqual(['Second'])
    const titles = (await overlays.list('1', { after: '0', limit: 100, skip: 0 })).map(({ title }) => title)
    expect(titles).toContain('Elsewhere')
    expect(titles).not.toContain('Hidden')
  })
  test('is deleted with its media', async () => {
    const { overlayId } = await create()
    await catalogue.media.remove({ scope: '1', mediaId }, { userId: '7', callerId: '7', notes: '' })
    expect(await overlays.find({ scope: null, overlayId })).toBeUndefined()
  })
  test('is created once for one idempotency key', async () => {
    const call = createCall({ key: `overlay ${mediaId}`, fingerprint: 'x' })
    const first = await create({}, '1', call)
    expect(await create({}, '1', call)).toEqual(first)
    expect(await listOverlays()).toHaveLength(1)
  })
})

describe('a media', () => {
  test('accepts 25 overlays under concurrent requests', async () => {
    const results = await Promise.allSettled(Array.from({ length: 40 }, () => create()))
    const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.reason] : []))
    expect(errors).toEqual(Array(15).fill('OVERLAYS_FULL'))
    expect(await listOverlays()).toHaveLength(25)
    const { overlayId } = await create({ mediaId: '' })
    await expect(overlays.update({ scope: '1', overlayId }, mediaId, (current) => ({ ...current, mediaId }))).rejects.toMatchObject({
      reason: 'OVERLAYS_FULL',
    })
  })
  test('of another organisation is not found', async () => {
    const { overlayId } = await create({ mediaId: '' }, '2')
    await expect(create({}, '2')).rejects.toMatchObject({ reason: 'MEDIA_NOT_FOUND' })
    const move = (scope: string | null) => overlays.update({ scope, overlayId }, mediaId, (current) => ({ ...current, mediaId }))
    await expect(move('2')).rejects.toMatchObject({ reason: 'MEDIA_NOT_FOUND' })
    await expect(move(null)).rejects.toMatchObject({ reason: 'MEDIA_NOT_FOUND' })
    expect((await create({}, null)).organisationId).toBe('1')
  })
})

test('an overlay of another organisation is not found', async () => {
  const { overlayId } = await create()
  for (const key of [
    { scope: '2', overlayId },
    { scope: '1', overlayId: '999999999' },
  ]) {
    expect(await overlays.find(key)).toBeUndefined()
    await expect(overlays.update(key, '', (current) => current)).rejects.toMatchObject({ reason: 'OVERLAY_NOT_FOUND' })
    await expect(overlays.remove(key)).rejects.toMatchObject({ reason: 'OVERLAY_NOT_FOUND' })
  }
  await overlays.remove({ scope: '1', overlayId })
  await expect(overlays.remove({ scope: '1', overlayId })).rejects.toMatchObject({ reason: 'OVERLAY_NOT_FOUND' })
})
