import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { DomainError } from '@vitascope/errors'
import { type Db, openPostgres } from '@vitascope/postgres'
import type { UploadVideoRequest } from '@vitascope/proto/catalogue/v1/video'
import { createTestDatabase, testLog } from '@vitascope/testing'
import { finishUploads } from './finish-upload.ts'
import { createTusStore, type TusStore } from './tus-store.ts'

let db: Db
let uploads: TusStore
let close: () => Promise<void>
/** Organisations of the requests. */
let requested: string[]
let lastRequest: UploadVideoRequest | undefined
let errors: Record<string, DomainError>

beforeAll(async () => {
  const database = await createTestDatabase({ migrations: join(import.meta.dirname, '../../migrations'), schema: 'encoding' })
  db = openPostgres({ url: database.url, schema: 'encoding', log: testLog })
  uploads = createTusStore(db)
  close = async () => {
    await db.close()
    await database.drop()
  }
})
beforeEach(async () => {
  await db.query('truncate tus_upload cascade')
  requested = []
  errors = {}
  reserved.clear()
})
afterAll(() => close())

const tooMany = new DomainError('exhausted', 'TOO_MANY_JOBS', 'too many jobs', { retryAfter: 10 })
const quotaExhausted = new DomainError('exhausted', 'QUOTA_BYTES', 'all bytes are used')
const videos = {
  async uploadVideo(request: UploadVideoRequest) {
    const { organisationId } = request
    requested.push(organisationId)
    lastRequest = request
    const error = errors[organisationId]
    if (error) throw error
    return { videoId: '11', mediaId: '12', jobId: '13', status: undefined, repeatedCall: false }
  },
}
/** Ids of reservations. */
const reserved = new Set<string>()
const quota = {
  reserve: async ({ id }: { id: string }) => void reserved.add(id),
  release: async (id: string) => void reserved.delete(id),
}
const media = {
  replaceSource: () => Promise.reject(new Error('no upload of these tests replaces a source')),
}
const runPass = () => finishUploads({ uploads, videos, media, quota, log: testLog }, new AbortController().signal)

async function createComplete(organisationId: string, metadata = ''): Promise<string> {
  const uploadId = randomUUID()
  const owner = { kind: 'user', keyId: '5', userId: '7', organisationId, userType: 'uploader' } as const
  await uploads.create({ uploadId, organisationId, owner, metadata, title: '', filename: 'a.mp4', length: 3 }, 3_600)
  const upload = await uploads.lease(uploadId)
  await uploads.addParts(uploadId, upload?.fence ?? 0, [{ object: `tus/${uploadId}/1-0`, bytes: 3 }], 3_600)
  return uploadId
}
const setExpiredDaysAgo = (days: number) => db.query(`update tus_upload set expire_time = now() - $1::int * interval '1 day'`, [days])

test('an organisation with too many jobs does not block the uploads of another', async () => {
  errors = { '1': tooMany }
  for (let n = 0; n < 55; n++) await createComplete('1')
  const other = await createComplete('2')
  await runPass()
  await runPass()
  expect(requested.filter((organisationId) => organisationId === '2')).toHaveLength(1)
  expect(await uploads.find(other)).toMatchObject({ videoId: '11', jobId: '13' })
  errors = {}
  await runPass()
  await runPass()
  expect(await uploads.claimComplete(100)).toEqual([])
})

test.each([
  ['', 'public'],
  [`visibility ${Buffer.from('private').toString('base64')}`, 'private'],
])('the metadata "%s" creates a %s video', async (metadata, visibility) => {
  await createComplete('1', metadata)
  await runPass()
  expect(lastRequest).toMatchObject({ visibility })
})

test('an upload above the quota is rejected without a retry, can be deleted, and expires', async () => {
  errors = { '1': quotaExhausted }
  const [first, second] = [await createComplete('1'), await createComplete('1')]
  await runPass()
  errors = {}
  await runPass()
  expect(requested).toEqual(['1', '1'])
  expect(await uploads.find(first)).toMatchObject({ videoId: '', error: { reason: 'QUOTA_BYTES', message: 'all bytes are used' } })
  expect(await uploads.drop(first)).toBe(true)
  await setExpiredDaysAgo(1)
  expect((await uploads.dropExpired(10)).sort()).toEqual([first, second].sort())
})

test('a complete upload without a video is retried until a week after its expiry, then removed', async () => {
  errors = { '1': tooMany }
  const upload = await createComplete('1')
  await runPass()
  await setExpiredDaysAgo(6)
  expect([await uploads.dropExpired(10), await uploads.drop(upload)]).toEqual([[], false])
  await setExpiredDaysAgo(8)
  expect(await uploads.dropExpired(10)).toEqual([upload])
  expect(await uploads.claimComplete(10)).toEqual([])
})

test('an upload whose video was created by a call without a response keeps no extra reservation', async () => {
  // The catalogue accepted the first call, but its response was lost. The second call returns the
  // same response and changes nothing.
  errors = { '1': new DomainError('unavailable', 'SERVICE_UNAVAILABLE', 'the catalogue does not respond') }
  const upload = await createComplete('1')
  await runPass()
  expect([...reserved]).toEqual([upload])
  errors = {}
  await runPass()
  expect(await uploads.find(upload)).toMatchObject({ videoId: '11' })
  expect([...reserved]).toEqual([])
})

test('an upload whose video another request is creating keeps no extra reservation', async () => {
  // The video replaces the reservation, and the other request then records the video. So no later pass would release a
  // reservation that is made here.
  errors = { '1': new DomainError('conflict', 'IDEMPOTENCY_RUNNING', 'the first request is still running', { retryAfter: 1 }) }
  const upload = await createComplete('1')
  await runPass()
  await uploads.setVideo(upload, { videoId: '11', jobId: '13' })
  expect(requested).toEqual(['1'])
  expect([...reserved]).toEqual([])
})
