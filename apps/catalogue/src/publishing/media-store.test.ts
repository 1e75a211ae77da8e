import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { buildRenditionSet, createCall } from '../../test/builders.ts'
import { type CatalogueDatabase, catalogueDatabase } from '../../test/catalogue-database.ts'
import { createPlaybackPolicyStore } from '../playback-policy/playback-policy-store.ts'
import { mergeMedia } from './media/media.ts'

let catalogue: CatalogueDatabase
beforeAll(async () => {
  catalogue = await catalogueDatabase()
})
beforeEach(() => catalogue.db.query('truncate outbox'))
afterAll(() => catalogue.close())

const deletion = { userId: '7', callerId: '7', notes: 'no longer needed' }

describe('a media', () => {
  test('lists its playable files', async () => {
    const { mediaId } = await catalogue.upload()
    expect(await catalogue.media.find({ scope: '1', mediaId })).toMatchObject({ encodedFilenames: [], gifStatus: 0, tokenRequired: false })
    const played = await catalogue.play()
    expect(await catalogue.media.find({ scope: null, mediaId: played.mediaId })).toMatchObject({ encodedFilenames: ['h264_100.mp4'] })
  })
  test('of another organisation is not found', async () => {
    const { mediaId } = await catalogue.upload()
    const key = { scope: '2', mediaId }
    expect(await catalogue.media.find(key)).toBeUndefined()
    const expectedError = { kind: 'not_found', reason: 'MEDIA_NOT_FOUND' }
    await expect(catalogue.media.update(key, (current) => current)).rejects.toMatchObject(expectedError)
    await expect(
      catalogue.media.replace(key, { sourceUrl: 'https://x/y', userId: '9', startsWaiting: false }, createCall()),
    ).rejects.toMatchObject(expectedError)
    await expect(catalogue.media.publish(key, '9', createCall())).rejects.toMatchObject(expectedError)
    await expect(catalogue.media.remove(key, deletion)).rejects.toMatchObject(expectedError)
    expect(await catalogue.media.find({ scope: '1', mediaId })).toBeDefined()
  })
  test('changes only the fields of the mask, and gets new URLs when a token is required', async () => {
    const { mediaId, videoId } = await catalogue.play()
    const version = (await catalogue.videos.find('1', videoId))?.deliveryVersion
    const input = { title: 'Landing', gifStatus: 1, originalFilename: 'x', tokenRequired: true }
    const key = { scope: '1', mediaId }
    const retitled = await catalogue.media.update(key, (current) => mergeMedia(current, input, ['title', 'gif_status'], false))
    expect(retitled).toMatchObject({ title: 'Landing', gifStatus: 1, originalFilename: 'launch.mp4', tokenRequired: false })
    expect((await catalogue.videos.find('1', videoId))?.deliveryVersion).toBe(version)
    await catalogue.media.update(key, (current) => mergeMedia(current, input, ['token_required'], true))
    expect((await catalogue.videos.find('1', videoId))?.deliveryVersion).not.toBe(version)
  })
  test('has a preview path only if its GIF flag is set and its stored set contains one', async () => {
    const { mediaId, videoId, jobId } = await catalogue.upload()
    const preview = async () => (await catalogue.videos.find('1', videoId))?.renditions?.previewPath
    const show = (gifStatus: number) =>
      catalogue.media.update({ scope: '1', mediaId }, (current) => mergeMedia(current, { ...current, gifStatus }, ['gif_status'], false))
    await catalogue.jobs.apply(jobId, { kind: 'published', renditions: buildRenditionSet(jobId, { previewPath: 'p.gif' }) }, 1)
    expect(await preview()).toBe('')
    await show(1)
    expect(await preview()).toBe('p.gif')
    await catalogue.db.query("update media set renditions = renditions - 'previewPath' - 'soundPath' where media_id = $1", [mediaId])
    expect(await preview()).toBe('')
    expect((await catalogue.videos.find('1', videoId))?.renditions).toMatchObject({ soundPath: '', hlsPath: 'hls/master.m3u8' })
  })
  test.each([
    ['a user changes a field for system keys', ['original_filename'], false, 'SYSTEM_ONLY'],
    ['a field does not exist', ['media_id'], true, 'INVALID_INPUT'],
    ['a value is invalid', ['title', 'gif_status'], true, 'INVALID_INPUT'],
  ])('rejects an update if %s', async (_, mask, isSystem, reason) => {
    const current = { title: 'Launch', gifStatus: 0, originalFilename: 'launch.mp4', tokenRequired: false }
    expect(() => mergeMedia(current, { ...current, title: '', gifStatus: 2 }, mask, isSystem)).toThrow(expect.objectContaining({ reason }))
  })
})

describe('publishing a media again', () => {
  test('creates a video with the same fields, and its own id and URLs', async () => {
    const { mediaId, videoId } = await catalogue.play({ title: 'Launch', tags: ['moon'], allowedIps: ['192.0.2.1'] })
    const second = await catalogue.media.publish({ scope: '1', mediaId }, '8', createCall())
    const [first, copy] = [await catalogue.videos.find('1', videoId), await catalogue.videos.find('1', second.videoId)]
    expect(copy).toMatchObject({
      title: 'Launch',
      tags: ['moon'],
      allowedIps: ['192.0.2.1'],
      creatorId: '8',
      renditions: first?.renditions,
    })
    expect(copy?.deliveryVersion).toMatch(/^[a-z0-9]{16}$/)
    expect(copy?.deliveryVersion).not.toBe(first?.deliveryVersion)
  })
  test('that is not playable yet creates URLs when its first rendition set is stored', async () => {
    const { mediaId, jobId } = await catalogue.upload()
    const { videoId } = await catalogue.media.publish({ scope: '1', mediaId }, '8', createCall())
    expect(await catalogue.videos.find('1', videoId)).toMatchObject({ deliveryVersion: '', status: { state: 'encoding' } })
    await catalogue.jobs.apply(jobId, { kind: 'published', renditions: buildRenditionSet(jobId) }, 1)
    expect((await catalogue.videos.find('1', videoId))?.deliveryVersion).toHaveLength(16)
  })
  test('with an idempotency key creates one video', async () => {
    const { mediaId } = await catalogue.upload()
    const call = createCall({ key: 'c'.repeat(64), fingerprint: 'd'.repeat(64) })
    const first = await catalogue.media.publish({ scope: '1', mediaId }, '8', call)
    expect(await catalogue.media.publish({ scope: '1', mediaId }, '8', call)).toEqual(first)
  })
})

describe('deleting a media', () => {
  test.each(['before the first report', 'while it encodes', 'while a replacement encodes'])(
    '%s removes the video, its jobs and its URLs',
    async (stage) => {
      const { mediaId, videoId, jobId: first } = await (stage === 'while a replacement encodes' ? catalogue.play() : catalogue.upload())
      let jobId = first
      if (stage === 'while it encodes') await catalogue.jobs.apply(jobId, { kind: 'progress', percent: 30 }, 1)
      if (stage === 'while a replacement encodes') {
        jobId = (
          await catalogue.media.replace(
            { scope: '1', mediaId },
            { sourceUrl: 'https://x/y', userId: '7', startsWaiting: false },
            createCall(),
          )
        ).jobId
      }
      await catalogue.media.remove({ scope: '1', mediaId }, deletion)
      expect(await catalogue.videos.find('1', videoId)).toBeUndefined()
      expect(await createPlaybackPolicyStore(catalogue.db).find(videoId)).toBeUndefined()
      expect((await catalogue.messages()).at(-1)).toMatchObject({ topic: 'job.cancelled', payload: { jobId } })
      expect(await catalogue.jobs.apply(jobId, { kind: 'published', renditions: buildRenditionSet(jobId) }, 9)).toBe(false)
      expect(await catalogue.jobs.findNeeded([first, jobId])).toEqual([])
      expect(await catalogue.media.find({ scope: null, mediaId })).toBeUndefined()
      expect(await catalogue.jobs.find('1', jobId)).toMatchObject({ state: 'cancelled', message: 'the media was deleted' })
      await expect(catalogue.media.remove({ scope: '1', mediaId }, deletion)).rejects.toMatchObject({ reason: 'MEDIA_NOT_FOUND' })
      expect(await catalogue.db.query('select user_id, caller_id, notes from deletion where media_id = $1', [mediaId])).toEqual([
        { user_id: '7', caller_id: '7', notes: 'no longer needed' },
      ])
    },
  )
  test('with a finished job deletes its rendition set', async () => {
    const { mediaId, jobId } = await catalogue.play()
    await catalogue.db.query('truncate outbox')
    await catalogue.media.remove({ scope: '1', mediaId }, deletion)
    expect(await catalogue.jobs.findNeeded([jobId])).toEqual([])
    expect(await catalogue.messages()).toEqual([])
  })
})
