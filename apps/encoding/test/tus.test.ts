// Faults: C32
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { DomainError } from '@vitascope/errors'
import { type Principal, principalHeaders } from '@vitascope/grpc'
import { deleteInBatches } from '@vitascope/postgres'
import { waitFor } from '@vitascope/testing'
import { testPrincipals } from '@vitascope/testing/principal-keys'
import { uploadRetention } from '../src/reconcile/sweep-uploads.ts'
import { createTusStore } from '../src/tus/tus-store.ts'
import { createUploadStore } from '../src/upload/upload-store.ts'
import { startInProcess, startTestEnvironment, type TestEnvironment } from './service-under-test.ts'

let environment: TestEnvironment
let service: Awaited<ReturnType<typeof startInProcess>>
const user = (organisationId = '2'): Principal => ({ kind: 'user', keyId: '5', userId: '7', organisationId, userType: 'uploader' })
const PARTS = 'application/offset+octet-stream'

beforeAll(async () => {
  environment = await startTestEnvironment()
  service = await startInProcess(environment)
})
afterEach(async () => {
  await environment.storage.deletePrefix('tus')
  await environment.db.query('truncate tus_upload, tus_part, job, work_item, object_prefix cascade')
})
afterAll(async () => {
  await service.stop()
  await environment.close()
})

async function headersFor(headers: Record<string, string>, principal = user()) {
  return {
    ...(await principalHeaders({ principal: principal, requestId: 'r-1' }, testPrincipals(), 'encoding')),
    'tus-resumable': '1.0.0',
    ...headers,
  }
}

async function send(method: string, path: string, headers: Record<string, string> = {}, body?: Buffer, principal = user()) {
  const response = await fetch(`http://${service.uploadAddress}${path}`, {
    method,
    headers: await headersFor(headers, principal),
    body: body ? new Uint8Array(body) : null,
  })
  const result = await response.text()
  const reason = result === '' ? '' : ((JSON.parse(result) as { reason?: string }).reason ?? '')
  return { status: response.status, headers: response.headers, reason, offset: response.headers.get('upload-offset') }
}

async function create(length: number | undefined, headers: Record<string, string> = {}, body?: Buffer): Promise<string> {
  const lengthHeader = length === undefined ? { 'upload-defer-length': '1' } : { 'upload-length': String(length) }
  const result = await send('POST', '/tus', { ...lengthHeader, ...headers }, body)
  expect(result.status).toBe(201)
  return `/tus/${result.headers.get('location')?.split('/').at(-1)}`
}
const patch = (path: string, offset: number, body: Buffer, headers: Record<string, string> = {}) =>
  send('PATCH', path, { 'content-type': PARTS, 'upload-offset': String(offset), ...headers }, body)

async function stored(path: string): Promise<Buffer> {
  const chunks: Buffer[] = []
  for (const { object } of await createTusStore(environment.db).listParts(path.slice(5))) {
    for await (const chunk of (await environment.storage.open(object)).stream) chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks)
}

/** Starts a PATCH, sends some bytes of it, and leaves it open. */
async function startPatch(
  path: string,
  offset: number,
  contentLength: number,
  firstBytes: Buffer,
  extraHeaders: Record<string, string> = {},
) {
  const headers = await headersFor({
    'content-type': PARTS,
    'upload-offset': String(offset),
    'content-length': String(contentLength),
    ...extraHeaders,
  })
  const request = httpRequest(`http://${service.uploadAddress}${path}`, { method: 'PATCH', headers })
  request.on('error', () => {}).write(firstBytes)
  await waitFor(async () => (await environment.db.query('select 1 from tus_upload where lease_end is not null')).length === 1)
  return request
}

test('an upload may have any number of requests, and its offset is the number of durable bytes', async () => {
  const file = randomBytes(40_000_000)
  const path = await create(file.length + 1, { 'upload-metadata': `filename ${Buffer.from('a.mp4').toString('base64')}` })
  expect((await patch(path, 0, file.subarray(0, 3))).offset).toBe('3')
  expect((await patch(path, 0, file.subarray(0, 3))).reason).toBe('OFFSET_MISMATCH')
  expect((await patch(path, 3, file.subarray(3))).offset).toBe(String(file.length))
  const head = await send('HEAD', path)
  expect([head.status, head.offset, head.headers.get('upload-length')]).toEqual([200, String(file.length), String(file.length + 1)])
  expect(head.headers.get('upload-metadata')).toBe('filename YS5tcDQ=')
  expect((await stored(path)).equals(file)).toBe(true)
  expect((await patch(path, file.length, randomBytes(2))).status).toBe(400)
  expect((await send('HEAD', path)).offset).toBe(String(file.length))
})

test('the received bytes of an interrupted request are kept', async () => {
  const file = randomBytes(9_000_000)
  const path = await create(file.length + 1)
  const request = await startPatch(path, 0, file.length + 1, file.subarray(0, 5_000_000))
  await waitFor(() => request.writableLength === 0)
  request.destroy()
  const offset = await waitFor(async () => {
    const offset = Number((await send('HEAD', path)).offset)
    return offset > 0 ? String(offset) : undefined
  })
  expect((await patch(path, Number(offset), file.subarray(Number(offset)))).offset).toBe(String(file.length))
  expect((await stored(path)).equals(file)).toBe(true)
})

test('a new PATCH replaces a stalled one, and only one writes at a time', async () => {
  const file = randomBytes(1_000_000)
  const path = await create(file.length + 1)
  const stuck = await startPatch(path, 0, file.length + 1, file.subarray(0, 400_000))
  const { offset } = await send('HEAD', path)
  const rest = file.subarray(Number(offset))
  const results = await Promise.all([patch(path, Number(offset), rest), patch(path, Number(offset), rest)])
  expect(results.filter(({ status }) => status === 204)).toHaveLength(1)
  stuck.destroy()
  expect((await send('HEAD', path)).offset).toBe(String(file.length))
  expect((await stored(path)).equals(file)).toBe(true)
}, 30_000)

const checksumHeader = (bytes: Buffer, algorithm = 'sha1') => ({
  'upload-checksum': `${algorithm} ${createHash(algorithm).update(bytes).digest('base64')}`,
})

test('a request with a checksum is rejected when another one continues the upload', async () => {
  const file = randomBytes(100_000)
  const path = await create(file.length + 1)
  const stuck = await startPatch(path, 0, file.length, file.subarray(0, 40_000), checksumHeader(file))
  const responded = once(stuck, 'response') as Promise<[IncomingMessage]>
  expect((await patch(path, 0, file, checksumHeader(file))).offset).toBe(String(file.length))
  const [response] = await responded
  expect(JSON.parse(await text(response))).toMatchObject({ reason: 'UPLOAD_LOCKED' })
  stuck.destroy()
  expect((await stored(path)).equals(file)).toBe(true)
  expect(await environment.objects('tus')).toHaveLength(1)
})

test('bytes with a wrong checksum are discarded', async () => {
  const file = randomBytes(100_000)
  const path = await create(file.length + 1)
  expect((await patch(path, 0, file, checksumHeader(Buffer.from('other')))).reason).toBe('CHECKSUM_MISMATCH')
  expect([(await send('HEAD', path)).offset, await environment.objects('tus')]).toEqual(['0', []])
  expect((await patch(path, 0, file, { 'upload-checksum': 'crc32 AAAA' })).status).toBe(400)
  expect((await patch(path, 0, file, checksumHeader(file, 'sha256'))).offset).toBe(String(file.length))
})

test('bytes beyond the length are rejected, and no object of them remains', async () => {
  const path = await create(5)
  expect((await patch(path, 0, Buffer.from('abcdef'))).status).toBe(400)
  expect([(await send('HEAD', path)).offset, await environment.objects('tus')]).toEqual(['0', []])
  expect((await patch(path, 0, Buffer.from('abc'))).offset).toBe('3')
  expect((await patch(path, 3, Buffer.from('def'))).status).toBe(400)
  expect((await stored(path)).toString()).toBe('abc')
  expect(await environment.objects('tus')).toHaveLength(1)
})

test('the length may be sent later, and the creation may contain the first bytes', async () => {
  const path = await create(undefined, { 'content-type': PARTS }, Buffer.from('abc'))
  const head = await send('HEAD', path)
  expect([head.offset, head.headers.get('upload-defer-length')]).toEqual(['3', '1'])
  expect((await patch(path, 3, Buffer.from('def'), { 'upload-length': '100' })).offset).toBe('6')
  expect((await patch(path, 6, Buffer.from('g'), { 'upload-length': '101' })).status).toBe(400)
  expect((await send('HEAD', path)).headers.get('upload-length')).toBe('100')
})

test('requests with the same idempotency key create one upload, and continue it', async () => {
  const headers = { 'idempotency-key': 'first', 'upload-metadata': 'title YQ==' }
  const paths = await Promise.all([1, 2, 3].map(() => create(6, headers)))
  expect(new Set(paths).size).toBe(1)
  const path = paths[0] ?? ''
  const ids = await environment.db.query<{ upload_id: string }>('select upload_id from tus_upload')
  expect(ids.map(({ upload_id }) => `/tus/${upload_id}`)).toEqual([path])
  const post = (more: Record<string, string>, body?: Buffer) => send('POST', '/tus', { 'upload-length': '6', ...headers, ...more }, body)
  const first = await post({ 'content-type': PARTS }, Buffer.from('abc'))
  expect([first.status, first.offset]).toEqual([201, '3'])
  const repeated = await post({ 'content-type': PARTS }, Buffer.from('abc'))
  expect([repeated.status, repeated.offset]).toEqual([201, '3'])
  expect((await stored(path)).toString()).toBe('abc')
  await patch(path, 3, Buffer.from('def'))
  expect((await post({})).headers.get('x-video-id')).toMatch(/^\d+$/)
  for (const other of [{ 'upload-length': '7' }, { 'upload-metadata': 'title Yg==' }])
    expect((await post(other)).reason).toBe('IDEMPOTENCY_MISMATCH')
  expect((await post({ 'idempotency-key': 'x'.repeat(256) })).status).toBe(400)
  expect(await create(6, { ...headers, 'idempotency-key': 'second' })).not.toBe(path)
  const foreign = { ...user('3'), keyId: '6' } as Principal
  expect((await send('POST', '/tus', { 'upload-length': '6', ...headers }, undefined, foreign)).headers.get('location')).not.toContain(
    path.slice('/tus/'.length),
  )
})

test('callers of another organisation do not find an upload, and malformed tus requests are rejected', async () => {
  const path = await create(10)
  expect((await send('HEAD', path, {}, undefined, user('3'))).status).toBe(400)
  expect((await send('DELETE', path, {}, undefined, user('3'))).reason).toBe('UPLOAD_NOT_FOUND')
  expect((await send('PATCH', path, { 'upload-offset': '0', 'content-type': 'video/mp4' }, Buffer.from('a'))).reason).toBe(
    'UNSUPPORTED_MEDIA_TYPE',
  )
  expect((await send('POST', '/tus', { 'upload-length': '1', 'tus-resumable': '0.2.2' })).reason).toBe('TUS_VERSION_UNKNOWN')
  expect((await send('POST', '/tus', { 'upload-length': '50000001' })).reason).toBe('UPLOAD_TOO_LARGE')
  for (const headers of [{}, { 'upload-length': '0' }, { 'upload-length': 'x' }, { 'upload-length': '5', 'upload-metadata': 'a b c' }]) {
    expect((await send('POST', '/tus', headers as Record<string, string>)).status).toBe(400)
  }
})

test('a complete upload that creates no video reports the reason and can be deleted', async () => {
  environment.catalogue.uploadError = new DomainError('exhausted', 'QUOTA_BYTES', 'all bytes are used')
  try {
    const path = await create(6)
    expect((await patch(path, 0, Buffer.from('abc'))).offset).toBe('3')
    expect((await patch(path, 3, Buffer.from('def'))).reason).toBe('QUOTA_BYTES')
    const head = await send('HEAD', path)
    expect([head.status, head.offset]).toEqual([400, null])
    const received = JSON.parse(Buffer.from(head.headers.get('vitascope-error') ?? '', 'base64').toString()) as Record<string, unknown>
    expect(received).toMatchObject({ kind: 'exhausted', reason: 'QUOTA_BYTES', message: 'all bytes are used' })
    for (const offset of [6, 0]) expect((await patch(path, offset, Buffer.alloc(0))).reason).toBe('QUOTA_BYTES')
    environment.catalogue.uploadError = undefined
    expect((await patch(path, 6, Buffer.alloc(0))).reason).toBe('QUOTA_BYTES')
    expect((await send('DELETE', path)).status).toBe(204)
    expect((await send('DELETE', path)).reason).toBe('UPLOAD_NOT_FOUND')
    expect(await environment.objects('tus')).toEqual([])
  } finally {
    environment.catalogue.uploadError = undefined
  }
})

test('a complete upload of an organisation with too many jobs becomes a video later', async () => {
  environment.catalogue.uploadError = new DomainError('exhausted', 'TOO_MANY_JOBS', 'too many jobs', { retryAfter: 10 })
  try {
    const path = await create(3)
    const last = await patch(path, 0, Buffer.from('abc'))
    expect([last.status, last.offset, last.headers.get('x-video-id')]).toEqual([204, '3', null])
    const head = await send('HEAD', path)
    expect([head.status, head.offset, head.headers.get('x-video-id')]).toEqual([200, '3', null])
    expect((await send('DELETE', path)).reason).toBe('UPLOAD_FINISHED')
    environment.catalogue.uploadError = undefined
    await waitFor(async () => (await send('HEAD', path)).headers.get('x-video-id') === '11', { timeout: 30_000 })
  } finally {
    environment.catalogue.uploadError = undefined
  }
}, 60_000)

test('a deleted or expired upload leaves no objects', async () => {
  const path = await create(10, { 'content-type': PARTS }, Buffer.from('abc'))
  expect(await environment.objects('tus')).toHaveLength(1)
  expect((await send('DELETE', path)).status).toBe(204)
  expect((await send('HEAD', path)).status).toBe(400)
  await create(10, { 'content-type': PARTS }, Buffer.from('abc'))
  await environment.db.query(`update tus_upload set expire_time = now() - interval '1 second'`)
  const tools = {
    uploads: createUploadStore(environment.db),
    tusUploads: createTusStore(environment.db),
    storage: environment.storage,
    quota: environment.quota,
  }
  const { signal } = new AbortController()
  for (const { remove } of uploadRetention(tools)) await deleteInBatches(remove, { signal })
  expect([await environment.objects('tus'), await environment.db.query('select 1 from tus_upload')]).toEqual([[], []])
})

test('a complete upload for a media replaces its source, and a foreign or deleted media is not found', async () => {
  const file = randomBytes(10)
  const length = { 'upload-length': '10' }
  expect((await send('POST', '/tus/media/12', length, undefined, user('3'))).reason).toBe('MEDIA_NOT_FOUND')
  expect((await send('POST', '/tus/media/13', length)).reason).toBe('MEDIA_NOT_FOUND')

  const created = await send('POST', '/tus/media/12', {
    ...length,
    'upload-metadata': `filename ${Buffer.from('b.mp4').toString('base64')}`,
  })
  const path = `/tus/${created.headers.get('location')?.split('/').at(-1)}`
  await patch(path, 0, file.subarray(0, 4))
  const last = await patch(path, 4, file.subarray(4))
  expect([last.status, last.headers.get('x-video-id'), last.headers.get('x-job-id')]).toEqual([204, '11', '14'])
  expect((await send('HEAD', path)).headers.get('x-job-id')).toBe('14')
  const sourceUrl = `tus://${path.slice('/tus/'.length)}/b.mp4`
  expect(environment.catalogue.replacements).toEqual([{ mediaId: '12', sourceUrl, organisationId: '2', startsWaiting: true }])

  const second = await send('POST', '/tus/media/12', length)
  const rejected = `/tus/${second.headers.get('location')?.split('/').at(-1)}`
  environment.catalogue.uploadError = new DomainError('not_found', 'MEDIA_NOT_FOUND', 'no such media')
  expect((await patch(rejected, 0, file)).reason).toBe('MEDIA_NOT_FOUND')
  environment.catalogue.uploadError = undefined
  // The error is final.
  expect((await patch(rejected, 10, Buffer.alloc(0))).reason).toBe('MEDIA_NOT_FOUND')
})
