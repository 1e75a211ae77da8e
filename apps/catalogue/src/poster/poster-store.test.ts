// Faults: C2
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { buildRenditionSet } from '../../test/builders.ts'
import { type CatalogueDatabase, catalogueDatabase } from '../../test/catalogue-database.ts'
import { createPlaybackPolicyStore } from '../playback-policy/playback-policy-store.ts'
import type { PosterSource, PosterUpdate } from './poster.ts'
import { createPosterStore, type PosterStore } from './poster-store.ts'

let catalogue: CatalogueDatabase
let posters: PosterStore
beforeAll(async () => {
  catalogue = await catalogueDatabase()
  posters = createPosterStore(catalogue.db, catalogue.enqueue)
})
afterAll(() => catalogue.close())

const URL_SOURCE: PosterSource = { kind: 'url', url: 'https://example.org/picture.png' }

const set = (videoId: string, source: PosterSource = URL_SOURCE, scope: string | null = '1') => posters.set({ scope, videoId }, '7', source)

const image = (path: string) => ({ path, width: 64, height: 36 })

function made(jobId: string): PosterUpdate {
  return { kind: 'created', set: { jobId, prefix: `media/1/${jobId}-1`, poster: image('poster.jpg'), thumbnail: image('thumbnail.jpg') } }
}

const FAILED: PosterUpdate = { kind: 'failed', code: 4002, message: 'the picture is damaged' }

const readVideo = async (videoId: string) => {
  const video = await catalogue.videos.find('1', videoId)
  if (!video) throw new Error('the video does not exist')
  return video
}
const findPolicy = (videoId: string) => createPlaybackPolicyStore(catalogue.db).find(videoId)
const topicsOf = async (jobId: string) =>
  (await catalogue.messages()).filter(({ payload }) => payload.jobId === jobId).map(({ topic }) => topic)

test('an accepted picture is sent to encoding and shown as soon as it is converted', async () => {
  const { videoId, mediaId } = await catalogue.play()
  const jobId = await set(videoId)
  const [message] = (await catalogue.messages()).filter(({ payload }) => payload.jobId === jobId)
  expect(message).toMatchObject({
    topic: 'poster.created',
    key: `media:${mediaId}`,
    payload: { mediaId, organisationId: '1', sourceUrl: URL_SOURCE.url },
  })
  expect((await readVideo(videoId)).poster).toEqual({ state: 'processing', code: 0, reason: '', poster: undefined, thumbnail: undefined })
  expect(await posters.findNeeded([jobId])).toEqual([jobId])
  const { deliveryVersion } = await readVideo(videoId)
  expect(await posters.apply(jobId, { kind: 'progress' }, 1)).toBe(true)
  expect(await posters.apply(jobId, made(jobId), 2)).toBe(true)
  expect(await readVideo(videoId)).toMatchObject({
    deliveryVersion,
    lastModifiedById: '7',
    poster: { state: 'ok', poster: image(`posters/${jobId}/poster.jpg`), thumbnail: image(`posters/${jobId}/thumbnail.jpg`) },
  })
  expect((await findPolicy(videoId))?.poster).toEqual({ jobId, prefix: `media/1/${jobId}-1` })
  // A repeated report, after a lost response.
  expect(await posters.apply(jobId, made(jobId), 2)).toBe(true)
  expect(await posters.findNeeded([jobId])).toEqual([jobId])
  expect(await posters.findUsedPrefixes([jobId])).toEqual([`media/1/${jobId}-1`])
})

test('a picture that fails leaves the images of the earlier one', async () => {
  const { videoId } = await catalogue.play()
  const first = await set(videoId)
  await posters.apply(first, made(first), 1)
  const second = await set(videoId)
  expect(await posters.apply(second, FAILED, 1)).toBe(false)
  expect((await readVideo(videoId)).poster).toEqual({
    ...{ state: 'failed', code: 4002, reason: 'the picture is damaged' },
    ...{ poster: image(`posters/${first}/poster.jpg`), thumbnail: image(`posters/${first}/thumbnail.jpg`) },
  })
  expect(await posters.findNeeded([first, second])).toEqual([first])
})

test('a later picture cancels the active job of an earlier one, whose report is rejected', async () => {
  const { videoId } = await catalogue.play()
  const first = await set(videoId)
  const second = await set(videoId)
  expect(await topicsOf(first)).toEqual(['poster.created', 'job.cancelled'])
  expect(await posters.apply(first, made(first), 1)).toBeUndefined()
  expect(await posters.apply(second, made(second), 1)).toBe(true)
  const third = await set(videoId)
  // The earlier images are in use while the third picture is converted.
  expect((await posters.findNeeded([first, second, third])).sort()).toEqual([second, third].sort())
  await posters.apply(third, made(third), 1)
  expect(await posters.findNeeded([first, second, third])).toEqual([third])
})

test('a video without files shows its picture, and encoding never changes it', async () => {
  const { videoId, jobId: encodeJobId } = await catalogue.upload()
  const jobId = await set(videoId)
  await posters.apply(jobId, made(jobId), 1)
  const before = await readVideo(videoId)
  expect(before).toMatchObject({ deliveryVersion: expect.stringMatching(/^[a-z0-9]{16}$/), renditions: undefined })
  const prefix = `media/1/${jobId}-1`
  expect(await findPolicy(videoId)).toMatchObject({
    sets: [{ version: before.deliveryVersion, prefix }],
    poster: { jobId, prefix },
    masterPath: '',
  })
  await catalogue.jobs.apply(encodeJobId, { kind: 'published', renditions: buildRenditionSet(encodeJobId) }, 1)
  const after = await readVideo(videoId)
  expect(after.poster).toEqual(before.poster)
  // The earlier URL of the picture stays valid.
  expect(await findPolicy(videoId)).toMatchObject({
    sets: [
      { version: after.deliveryVersion, prefix: `renditions/${encodeJobId}` },
      { version: before.deliveryVersion, prefix },
    ],
    poster: { jobId, prefix },
  })
})

test('a removed picture is no longer shown, and its job is cancelled', async () => {
  const { videoId } = await catalogue.play()
  const first = await set(videoId)
  await posters.apply(first, made(first), 1)
  const second = await set(videoId)
  await posters.remove({ scope: '1', videoId }, '8')
  expect(await readVideo(videoId)).toMatchObject({ poster: undefined, lastModifiedById: '8' })
  expect(await topicsOf(second)).toEqual(['poster.created', 'job.cancelled'])
  expect(await posters.findNeeded([first, second])).toEqual([])
  expect(await posters.apply(second, made(second), 1)).toBeUndefined()
  // There is nothing to remove any more.
  await posters.remove({ scope: '1', videoId }, '9')
  expect((await readVideo(videoId)).lastModifiedById).toBe('8')
})

test('a frame is taken from the current set', async () => {
  const { videoId, mediaId, jobId: setJobId } = await catalogue.play()
  const jobId = await set(videoId, { kind: 'frame', atSeconds: 12 })
  const [message] = (await catalogue.messages()).filter(({ payload }) => payload.jobId === jobId)
  expect(message?.payload).toMatchObject({ mediaId, frame: { setJobId, atSeconds: 12 } })
  await expect(set(videoId, { kind: 'frame', atSeconds: 13 })).rejects.toMatchObject({ fields: [{ field: 'at_seconds' }] })
  const { videoId: unfinished } = await catalogue.upload()
  await expect(set(unfinished, { kind: 'frame', atSeconds: 0 })).rejects.toMatchObject({ reason: 'VIDEO_NOT_READY' })
})

test('other organisations can neither set nor remove a picture', async () => {
  const { videoId } = await catalogue.play()
  await expect(set(videoId, URL_SOURCE, '2')).rejects.toMatchObject({ reason: 'VIDEO_NOT_FOUND' })
  await expect(posters.remove({ scope: '2', videoId }, '7')).rejects.toMatchObject({ reason: 'VIDEO_NOT_FOUND' })
})
