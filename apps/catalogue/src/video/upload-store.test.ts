import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { createCall, createUpload } from '../../test/builders.ts'
import { type CatalogueDatabase, catalogueDatabase } from '../../test/catalogue-database.ts'

let catalogue: CatalogueDatabase
beforeAll(async () => {
  catalogue = await catalogueDatabase()
})
beforeEach(() => catalogue.db.query('truncate outbox'))
afterAll(() => catalogue.close())

const key = 'a'.repeat(64)
const count = async (table: 'media' | 'job') =>
  Number((await catalogue.db.query<{ n: string }>(`select count(*) as n from ${table}`))[0]?.n)

test('an upload stores the media, the video, the job and the message to encoding', async () => {
  const upload = createUpload({ title: 'Launch', tags: ['moon'] })
  const { jobId, ...accepted } = await catalogue.uploads.accept(upload, createCall())
  const { videoId, mediaId } = upload
  const status = { state: 'encoding', progress: 5, code: 2, message: '' }
  expect(accepted).toEqual({ videoId, mediaId, status, repeatedCall: false })
  expect(await catalogue.videos.find('1', videoId)).toMatchObject({
    title: 'Launch',
    tags: ['moon'],
    status: { progress: 5 },
    deliveryVersion: '',
  })
  expect(await catalogue.media.find({ scope: '1', mediaId })).toMatchObject({ title: 'Launch', originalFilename: 'launch.mp4' })
  expect(await catalogue.jobs.find('1', jobId)).toMatchObject({ state: 'queued', action: 'new_video', videoId, mediaId })
  expect(await catalogue.messages()).toEqual([
    {
      topic: 'job.created',
      key: `media:${mediaId}`,
      payload: { jobId, mediaId, organisationId: '1', sourceUrl: 'https://example.org/launch.mp4' },
    },
  ])
})

test('a failed upload stores nothing', async () => {
  const before = [await count('media'), await count('job')]
  await expect(catalogue.uploads.accept(createUpload({ title: 'a\0b' }), createCall())).rejects.toThrow()
  expect([await count('media'), await count('job')]).toEqual(before)
  expect(await catalogue.messages()).toEqual([])
})

describe('with an idempotency key', () => {
  test('twenty concurrent calls create one video, and each receives it or must retry', async () => {
    const before = await count('media')
    const call = createCall({ key, fingerprint: 'f'.repeat(64) })
    const responses = await Promise.allSettled(Array.from({ length: 20 }, () => catalogue.uploads.accept(createUpload(), call)))
    const first = await catalogue.uploads.accept(createUpload(), call)
    for (const response of responses) {
      if (response.status === 'fulfilled') expect({ ...response.value, repeatedCall: true }).toEqual(first)
      else expect(response.reason).toMatchObject({ reason: 'IDEMPOTENCY_RUNNING' })
    }
    expect(await count('media')).toBe(before + 1)
    expect(await catalogue.messages()).toHaveLength(1)
  })
  test('another payload is rejected', async () => {
    await expect(catalogue.uploads.accept(createUpload(), createCall({ key, fingerprint: 'e'.repeat(64) }))).rejects.toMatchObject({
      reason: 'IDEMPOTENCY_MISMATCH',
    })
  })
})
