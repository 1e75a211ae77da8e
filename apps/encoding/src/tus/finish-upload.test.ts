import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { DomainError } from '@vitascope/errors'
import { type Db, openPostgres } from '@vitascope/postgres'
import type { UploadVideoRequest } from '@vitascope/proto/catalogue/v1/video'
import { freshDatabase, testLog } from '@vitascope/testing'
import { finishUploads } from './finish-upload.ts'
import { createTusStore, type TusStore } from './tus-store.ts'

let db: Db
let uploads: TusStore
let close: () => Promise<void>
/** Organisations that were asked for. */
let asked: string[]
let refusals: Record<string, DomainError>

beforeAll(async () => {
  const database = await freshDatabase({ migrations: join(import.meta.dirname, '../../migrations'), schema: 'encoding' })
  db = openPostgres({ url: database.url, schema: 'encoding', log: testLog })
  uploads = createTusStore(db)
  close = async () => {
    await db.close()
    await database.drop()
  }
})
beforeEach(async () => {
  await db.query('truncate tus_upload cascade')
  asked = []
  refusals = {}
})
afterAll(() => close())

const tooMany = new DomainError('exhausted', 'TOO_MANY_JOBS', 'too many jobs', { retryAfter: 10 })
const noRoom = new DomainError('exhausted', 'QUOTA_BYTES', 'all bytes are used')
const videos = {
  async uploadVideo({ organisationId }: UploadVideoRequest) {
    asked.push(organisationId)
    const refusal = refusals[organisationId]
    if (refusal) throw refusal
    return { videoId: '11', mediaId: '12', jobId: '13', status: undefined }
  },
}
const round = () => finishUploads({ uploads, videos, log: testLog }, new AbortController().signal)

async function complete(organisationId: string): Promise<string> {
  const uploadId = randomUUID()
  const owner = { kind: 'user', keyId: '5', userId: '7', organisationId, userType: 'uploader' } as const
  await uploads.create({ uploadId, organisationId, owner, metadata: '', title: '', filename: 'a.mp4', length: 3 }, 3_600)
  const held = await uploads.lease(uploadId)
  await uploads.addParts(uploadId, held?.fence ?? 0, [{ object: `tus/${uploadId}/1-0`, bytes: 3 }], 3_600)
  return uploadId
}
const endedAgo = (days: number) => db.query(`update tus_upload set expire_time = now() - $1::int * interval '1 day'`, [days])

test('an organisation with too many jobs does not stand before another one, whose upload becomes a video', async () => {
  refusals = { '1': tooMany }
  for (let n = 0; n < 55; n++) await complete('1')
  const other = await complete('2')
  await round()
  await round()
  expect(asked.filter((organisationId) => organisationId === '2')).toHaveLength(1)
  expect(await uploads.find(other)).toMatchObject({ videoId: '11', jobId: '13' })
  refusals = {}
  await round()
  await round()
  expect(await uploads.complete(100)).toEqual([])
})

test('one for which a quota has no room is refused for good: it is not tried again, may be deleted, and goes when its time is over', async () => {
  refusals = { '1': noRoom }
  const [first, second] = [await complete('1'), await complete('1')]
  await round()
  refusals = {}
  await round()
  expect(asked).toEqual(['1', '1'])
  expect(await uploads.find(first)).toMatchObject({ videoId: '', refusal: { reason: 'QUOTA_BYTES', message: 'all bytes are used' } })
  expect(await uploads.drop(first)).toBe(true)
  await endedAgo(1)
  expect((await uploads.dropOld(10)).sort()).toEqual([first, second].sort())
})

test('one that became no video is tried for a week beyond its time, and goes then', async () => {
  refusals = { '1': tooMany }
  const upload = await complete('1')
  await round()
  await endedAgo(6)
  expect([await uploads.dropOld(10), await uploads.drop(upload)]).toEqual([[], false])
  await endedAgo(8)
  expect(await uploads.dropOld(10)).toEqual([upload])
  expect(await uploads.complete(10)).toEqual([])
})
