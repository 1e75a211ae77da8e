import { randomBytes, randomUUID } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { type Call, openChannel, type Principal, principalHeaders } from '@vitascope/grpc'
import { deleteInBatches } from '@vitascope/postgres'
import { PolicyCondition, UploadServiceService } from '@vitascope/proto/encoding/v1/upload'
import { waitFor } from '@vitascope/testing'
import { testPrincipals } from '@vitascope/testing/principal-keys'
import { uploadRetention } from '../src/reconcile/sweep-uploads.ts'
import { createTusStore } from '../src/tus/tus-store.ts'
import { createUploadStore } from '../src/upload/upload-store.ts'
import { startInProcess, startTestEnvironment, type TestEnvironment } from './service-under-test.ts'

let environment: TestEnvironment
let service: Awaited<ReturnType<typeof startInProcess>>
let channel: ReturnType<typeof openChannel>
const user: Principal = { kind: 'user', keyId: '5', userId: '7', organisationId: '2', userType: 'uploader' }
const PARTS = 'application/offset+octet-stream'

beforeAll(async () => {
  environment = await startTestEnvironment()
  service = await startInProcess(environment)
  channel = openChannel(service.address, { service: 'encoding', principals: testPrincipals() })
})
afterEach(async () => {
  environment.catalogue.quotaBytes = Number.POSITIVE_INFINITY
  environment.catalogue.reservations.clear()
  await Promise.all([environment.storage.deletePrefix('uploads'), environment.storage.deletePrefix('tus')])
  await environment.db.query('truncate upload, tus_upload, tus_part, job, work_item, object_prefix cascade')
})
afterAll(async () => {
  channel.close()
  await service.stop()
  await environment.close()
})

const reservations = () => [...environment.catalogue.reservations.values()].map(({ bytes, isOpen }) => ({ bytes, isOpen }))

async function tus(method: string, path: string, headers: Record<string, string> = {}, body?: Buffer) {
  const principal = await principalHeaders({ principal: user, requestId: 'r-1' }, testPrincipals(), 'encoding')
  const response = await fetch(`http://${service.uploadAddress}${path}`, {
    method,
    headers: { ...principal, 'tus-resumable': '1.0.0', ...headers },
    body: body ? new Uint8Array(body) : null,
  })
  const text = await response.text()
  const reason = text === '' ? '' : ((JSON.parse(text) as { reason?: string }).reason ?? '')
  return { status: response.status, reason, path: `/tus/${response.headers.get('location')?.split('/').at(-1)}` }
}
const patch = (path: string, offset: number, body: Buffer, headers: Record<string, string> = {}) =>
  tus('PATCH', path, { 'content-type': PARTS, 'upload-offset': String(offset), ...headers }, body)

async function signForm(maxBytes: number): Promise<Map<string, string>> {
  const condition = (name: string, value: string) => PolicyCondition.create({ operator: 'eq', name, value })
  const conditions = [
    condition('bucket', 'vitascope'),
    condition('key', `uploads/2/${randomUUID()}.mp4`),
    PolicyCondition.create({ operator: 'content-length-range', value: '1', max: String(maxBytes) }),
  ]
  const call: Call = { principal: user, requestId: 'r-1', signal: new AbortController().signal }
  const expiration = new Date(Date.now() + 3_600_000).toISOString()
  const { policy, signature } = await channel.client(UploadServiceService).signPolicy({ organisationId: '2', expiration, conditions }, call)
  const written = JSON.parse(Buffer.from(policy, 'base64').toString()) as { conditions: Record<string, string>[] }
  const form = new Map<string, string>()
  for (const one of written.conditions) if (!Array.isArray(one)) for (const [name, value] of Object.entries(one)) form.set(name, value)
  return form.set('policy', policy).set('x-amz-signature', signature)
}

const guest = () => principalHeaders({ principal: { kind: 'guest' }, requestId: 'r-2' }, testPrincipals(), 'encoding')

async function post(form: Map<string, string>, file: Buffer) {
  const body = new FormData()
  for (const [name, value] of form) body.set(name, value)
  body.set('file', new Blob([new Uint8Array(file)]), 'a.mp4')
  const response = await fetch(`http://${service.uploadAddress}/object`, { method: 'POST', body, headers: await guest() })
  const text = await response.text()
  return { status: response.status, reason: text === '' ? '' : (JSON.parse(text) as { reason: string }).reason }
}

test('a tus upload reserves its length, and releases it when it is deleted', async () => {
  environment.catalogue.quotaBytes = 1_000
  const { path } = await tus('POST', '/tus', { 'upload-length': '900' })
  expect(reservations()).toEqual([{ bytes: 900, isOpen: true }])
  expect(await tus('POST', '/tus', { 'upload-length': '101' })).toMatchObject({ status: 400, reason: 'QUOTA_BYTES' })
  expect((await patch(path, 0, randomBytes(400))).status).toBe(204)
  expect(reservations()).toEqual([{ bytes: 900, isOpen: true }])
  expect((await tus('DELETE', path)).status).toBe(204)
  expect(reservations()).toEqual([])
})

test('a tus upload of unknown length reserves per part and stores nothing above the quota', async () => {
  environment.catalogue.quotaBytes = 1_000
  const { path } = await tus('POST', '/tus', { 'upload-defer-length': '1' })
  expect((await patch(path, 0, randomBytes(600))).status).toBe(204)
  expect(reservations()).toEqual([{ bytes: 600, isOpen: true }])
  expect(await patch(path, 600, randomBytes(500))).toMatchObject({ status: 400, reason: 'QUOTA_BYTES' })
  expect(await environment.objects('tus')).toHaveLength(1)
  expect(await patch(path, 600, randomBytes(1), { 'upload-length': '1001' })).toMatchObject({ status: 400, reason: 'QUOTA_BYTES' })
  expect((await patch(path, 600, randomBytes(300))).status).toBe(204)
})

test('a sweep releases unused reservations', async () => {
  const { path } = await tus('POST', '/tus', { 'upload-length': '900' })
  await patch(path, 0, randomBytes(400))
  await post(await signForm(1_000), randomBytes(300))
  await environment.db.query(`update tus_upload set expire_time = now() - interval '1 second'`)
  await environment.db.query(`update upload set expire_time = now() - interval '1 second'`)
  expect(reservations()).toHaveLength(2)
  const tools = {
    uploads: createUploadStore(environment.db),
    tusUploads: createTusStore(environment.db),
    storage: environment.storage,
    quota: environment.quota,
  }
  const { signal } = new AbortController()
  for (const { remove } of uploadRetention(tools)) await deleteInBatches(remove, { signal })
  expect(reservations()).toEqual([])
})

test('an object form reserves the limit of its policy or its body length, and then the size of its file', async () => {
  environment.catalogue.quotaBytes = 100_000
  const form = await signForm(10_000_000)
  expect(await post(form, randomBytes(100_001))).toMatchObject({ reason: 'QUOTA_BYTES' })
  expect([reservations(), await environment.objects('uploads')]).toEqual([[], []])
  expect((await post(form, randomBytes(60_000))).status).toBe(204)
  expect(reservations()).toEqual([{ bytes: 60_000, isOpen: false }])
  // A repeated upload reserves nothing more.
  environment.catalogue.quotaBytes = 200_000
  expect(await post(await signForm(50), randomBytes(51))).toMatchObject({ reason: 'ENTITY_TOO_LARGE' })
  expect(reservations()).toEqual([{ bytes: 60_000, isOpen: false }])
})

test('an interrupted object form releases its reservation', async () => {
  const fields = [...(await signForm(50_000_000))].map(
    ([name, value]) => `--cut\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  const headers = { ...(await guest()), 'content-type': 'multipart/form-data; boundary=cut', 'transfer-encoding': 'chunked' }
  const cut = httpRequest(`http://${service.uploadAddress}/object`, { method: 'POST', headers })
  cut.on('error', () => {}).write(`${fields.join('')}--cut\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n`)
  cut.write(randomBytes(1_000_000))
  await waitFor(() => reservations().length === 1)
  expect(reservations()).toEqual([{ bytes: 50_000_000, isOpen: true }])
  cut.destroy()
  await waitFor(() => reservations().length === 0)
})
