import { createHash, randomBytes } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { type Call, openChannel, type Principal, principalHeaders } from '@vitascope/grpc'
import { deleteInBatches } from '@vitascope/postgres'
import { UploadServiceService } from '@vitascope/proto/encoding/v1/upload'
import { waitFor } from '@vitascope/testing'
import { testPrincipals } from '@vitascope/testing/principal-keys'
import { uploadRetention } from '../src/reconcile/sweep-uploads.ts'
import { createTusStore } from '../src/tus/tus-store.ts'
import { createUploadStore } from '../src/upload/upload-store.ts'
import { startInProcess, startTestEnvironment, type TestEnvironment } from './service-under-test.ts'

let environment: TestEnvironment
let service: Awaited<ReturnType<typeof startInProcess>>
let channel: ReturnType<typeof openChannel>
const user = (organisationId = '2'): Principal => ({ kind: 'user', keyId: '5', userId: '7', organisationId, userType: 'uploader' })
const MIB = 1024 ** 2

beforeAll(async () => {
  environment = await startTestEnvironment()
  service = await startInProcess(environment)
  channel = openChannel(service.address, { service: 'encoding', principals: testPrincipals() })
})
afterEach(async () => {
  environment.catalogue.quotaBytes = Number.POSITIVE_INFINITY
  environment.catalogue.reservations.clear()
  await environment.storage.deletePrefix('uploads')
  await environment.db.query('truncate upload, job, work_item, object_prefix cascade')
})
afterAll(async () => {
  channel.close()
  await service.stop()
  await environment.close()
})

const reservations = () => [...environment.catalogue.reservations.values()].map(({ bytes, isOpen }) => ({ bytes, isOpen }))
const headersOf = (principal: Principal) => principalHeaders({ principal, requestId: 'r-1' }, testPrincipals(), 'encoding')

async function put(file: Buffer, query = 'organisation_id=2', principal = user()) {
  const response = await fetch(`http://${service.uploadAddress}/file?${query}`, {
    method: 'PUT',
    headers: await headersOf(principal),
    body: new Uint8Array(file),
  })
  const text = await response.text()
  const rejection = text === '' ? {} : (JSON.parse(text) as { reason?: string; fields?: { field: string }[] })
  return {
    status: response.status,
    reason: rejection.reason ?? '',
    fields: rejection.fields?.map(({ field }) => field) ?? [],
    uploadId: response.headers.get('vitascope-upload-id') ?? '',
    sha256: response.headers.get('vitascope-upload-sha256') ?? '',
  }
}

async function discard(uploadId: string, organisationId = '2') {
  const call: Call = { principal: user(organisationId), requestId: 'r-1', signal: new AbortController().signal }
  await channel.client(UploadServiceService).discardUpload({ uploadId, organisationId }, call)
}

const expectNothingLeft = async () => {
  await waitFor(() => environment.catalogue.reservations.size === 0, { describe: 'the reservations to be released' })
  await waitFor(async () => (await environment.objects('uploads')).length === 0, { describe: 'the objects to be deleted' })
  expect(await environment.db.query('select 1 from upload where drop_time is null')).toEqual([])
}

test.each(['organisation_id=2', `organisation_id=2&bytes=${40 * MIB}`])(
  'a file becomes an upload whose size is reserved: %s',
  async (query) => {
    const file = randomBytes(20 * MIB)
    const stored = await put(file, query)
    expect(stored).toMatchObject({ status: 204, sha256: createHash('sha256').update(file).digest('hex') })
    expect(reservations()).toEqual([{ bytes: file.length, isOpen: false }])
    expect(environment.catalogue.reservations.has(stored.uploadId)).toBe(true)
    const [row] = await environment.db.query('select organisation_id, bytes from upload where upload_id = $1', [stored.uploadId])
    expect(row).toEqual({ organisation_id: '2', bytes: String(file.length) })
  },
)

test('an empty file, a file of another organisation and a file of a guest are rejected', async () => {
  expect(await put(Buffer.alloc(0))).toMatchObject({ status: 400, reason: 'INVALID_INPUT', fields: ['file'] })
  expect(await put(Buffer.from('x'), 'organisation_id=3')).toMatchObject({ status: 400, reason: 'FOREIGN_ORGANISATION' })
  expect(await put(Buffer.from('x'), 'organisation_id=2', { kind: 'guest' })).toMatchObject({ status: 400, reason: 'KEY_REQUIRED' })
  await expectNothingLeft()
})

test('a file above the quota is rejected before it is read if its size is declared, otherwise as soon as it grows above', async () => {
  environment.catalogue.quotaBytes = 18 * MIB
  expect(await put(Buffer.from('x'), `organisation_id=2&bytes=${19 * MIB}`)).toMatchObject({ status: 400, reason: 'QUOTA_BYTES' })
  expect(await put(randomBytes(19 * MIB))).toMatchObject({ status: 400, reason: 'QUOTA_BYTES' })
  await expectNothingLeft()
  expect((await put(randomBytes(18 * MIB))).status).toBe(204)
})

test('a connection that ends in the middle of a file leaves nothing behind', async () => {
  const headers = { ...(await headersOf(user())), 'content-length': 10 * MIB }
  const options = { method: 'PUT', headers, agent: false as const }
  const sending = httpRequest(`http://${service.uploadAddress}/file?organisation_id=2&bytes=${10 * MIB}`, options).on('error', () => {})
  sending.write(randomBytes(MIB))
  await waitFor(() => environment.catalogue.reservations.size === 1)
  sending.destroy()
  await expectNothingLeft()
})

test('an upload is discarded by its organisation only, and not while a job reads it', async () => {
  const [unused, used] = [await put(Buffer.from('unused')), await put(Buffer.from('used'))]
  await environment.db.query(`insert into job (job_id, media_id, organisation_id, source_url, state) values (1, 1, 2, $1, 'queued')`, [
    `upload:${used.uploadId}`,
  ])
  await discard(unused.uploadId, '3')
  expect(reservations()).toHaveLength(2)
  await discard(unused.uploadId)
  await discard(used.uploadId)
  await discard(unused.uploadId)
  expect([...environment.catalogue.reservations.keys()]).toEqual([used.uploadId])
  const tools = {
    uploads: createUploadStore(environment.db),
    tusUploads: createTusStore(environment.db),
    storage: environment.storage,
    quota: environment.quota,
  }
  const { signal } = new AbortController()
  for (const { remove } of uploadRetention(tools)) await deleteInBatches(remove, { signal })
  expect(await environment.objects('uploads')).toHaveLength(1)
})
