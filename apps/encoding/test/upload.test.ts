// Faults: A17, C32
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { type Call, openChannel, type Principal, principalHeaders } from '@vitascope/grpc'
import { deleteInBatches } from '@vitascope/postgres'
import { PolicyCondition, UploadServiceService } from '@vitascope/proto/encoding/v1/upload'
import { waitFor } from '@vitascope/testing'
import { testPrincipals } from '@vitascope/testing/principal-keys'
import { sweepUnclaimed, uploadRetention } from '../src/reconcile/sweep-uploads.ts'
import { createTusStore } from '../src/tus/tus-store.ts'
import { createUploadStore } from '../src/upload/upload-store.ts'
import { filesIn, startInProcess, startTestEnvironment, type TestEnvironment } from './service-under-test.ts'

let environment: TestEnvironment
let service: Awaited<ReturnType<typeof startInProcess>>
let channel: ReturnType<typeof openChannel>
const user = (organisationId: string): Principal => ({ kind: 'user', keyId: '5', userId: '7', organisationId, userType: 'uploader' })
const guestHeaders = (requestId: string) => principalHeaders({ principal: { kind: 'guest' }, requestId }, testPrincipals(), 'encoding')
const callAs = (principal: Principal): Call => ({ principal, requestId: 'r-1', signal: new AbortController().signal })
const uploads = () => channel.client(UploadServiceService)

beforeAll(async () => {
  environment = await startTestEnvironment()
  service = await startInProcess(environment)
  channel = openChannel(service.address, { service: 'encoding', principals: testPrincipals() })
})
afterEach(async () => {
  await environment.storage.deletePrefix('uploads')
  await environment.db.query('truncate upload, job, work_item, object_prefix cascade')
})
afterAll(async () => {
  channel.close()
  await service.stop()
  await environment.close()
})

const newUploadKey = (organisation = '2') => `uploads/${organisation}/${randomUUID()}.mp4`

async function signForm(objectKey: string, { organisationId = '2', minBytes = 1, maxBytes = 10_000_000, status = '' } = {}) {
  const condition = (name: string, value: string) => PolicyCondition.create({ operator: 'eq', name, value })
  const conditions = [
    condition('bucket', 'vitascope'),
    condition('key', objectKey),
    PolicyCondition.create({ operator: 'content-length-range', value: String(minBytes), max: String(maxBytes) }),
    ...(status === '' ? [] : [condition('success_action_status', status)]),
  ]
  const expiration = new Date(Date.now() + 3_600_000).toISOString()
  const { policy, signature } = await uploads().signPolicy({ organisationId, expiration, conditions }, callAs(user(organisationId)))
  const written = JSON.parse(Buffer.from(policy, 'base64').toString()) as { conditions: Record<string, string>[] }
  const form = new Map<string, string>()
  for (const one of written.conditions) if (!Array.isArray(one)) for (const [name, value] of Object.entries(one)) form.set(name, value)
  form.delete('bucket')
  return form.set('policy', policy).set('x-amz-signature', signature)
}

async function post(form: Map<string, string>, file: Buffer, headers: Record<string, string> = {}) {
  const body = new FormData()
  for (const [name, value] of form) body.set(name, value)
  body.set('file', new Blob([new Uint8Array(file)]), 'a.mp4')
  const principal = await guestHeaders('r-2')
  const response = await fetch(`http://${service.uploadAddress}/object`, {
    method: 'POST',
    body,
    headers: { ...principal, 'vitascope-public-url': 'http://here', ...headers },
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}
const parseReason = ({ text }: { text: string }) => (JSON.parse(text) as { reason: string }).reason
const complete = (objectKey: string, options: { etag?: string; bucket?: string } = {}, principal = user('2')) =>
  uploads().completeUpload(
    { key: objectKey, bucket: '', etag: '', filename: 'Film.mp4', isPresentation: false, presentationId: '', ...options },
    callAs(principal),
  )

test('an accepted file is stored and becomes the source of a job', async () => {
  const file = randomBytes(3_000_000)
  const name = newUploadKey()
  const result = await post(await signForm(name, { status: '201' }), file)
  const md5 = createHash('md5').update(file).digest('hex')
  expect([result.status, result.headers.get('etag')]).toEqual([201, `"${md5}"`])
  expect(result.text).toContain(`<Bucket>vitascope</Bucket><Key>${name}</Key><ETag>"${md5}"</ETag>`)
  expect(await environment.objects('uploads')).toEqual([name])
  const link = await complete(name, { etag: `"${md5}"` })
  const repeated = await complete(name)
  expect(repeated.uploadId).toBe(link.uploadId)
  const { recognised, sourceUrl } = await uploads().claimUpload({ ...link, organisationId: '2' }, callAs(user('2')))
  expect([recognised, sourceUrl]).toEqual([true, `upload://${link.uploadId}/Film.mp4`])
  await service.jobs.createJob({ jobId: '1', mediaId: '9', organisationId: '2', sourceUrl }, service.call)
  await waitFor(async () => (await environment.objects('source/1')).length === 1)
  const [source] = await environment.objects('source/1')
  expect((await environment.storage.stat(String(source)))?.bytes).toBe(file.length)
  const url = `http://${service.uploadAddress}/file/${link.uploadId}?expires=${link.expires}&signature=${link.signature}`
  const head = await fetch(url, { method: 'HEAD', headers: await guestHeaders('r') })
  expect([head.status, head.headers.get('content-length')]).toEqual([200, String(file.length)])
  const read = await fetch(url, { headers: await guestHeaders('r') })
  expect(Buffer.from(await read.arrayBuffer()).equals(file)).toBe(true)
  expect(read.headers.get('content-disposition')).toContain('Film.mp4')
})

test('an upload of another organisation is not found, and a wrong etag is rejected', async () => {
  const name = newUploadKey()
  await expect(complete(name)).rejects.toMatchObject({ reason: 'UPLOAD_NOT_FOUND' })
  await post(await signForm(name), Buffer.from('abc'))
  await expect(complete(name, {}, user('3'))).rejects.toMatchObject({ reason: 'UPLOAD_NOT_FOUND' })
  await expect(complete(name, { bucket: 'other' })).rejects.toMatchObject({ reason: 'UPLOAD_NOT_FOUND' })
  await expect(complete(`uploads/2/../2/${name.slice(10)}`)).rejects.toMatchObject({ reason: 'UPLOAD_NOT_FOUND' })
  await expect(complete(name, { etag: 'a'.repeat(32) })).rejects.toMatchObject({ kind: 'failed_precondition', reason: 'ETAG_MISMATCH' })
  const link = await complete(name)
  const claim = (overrides: object, organisationId = '2') =>
    uploads().claimUpload({ ...link, organisationId, ...overrides }, callAs(user(organisationId)))
  expect(await claim({ signature: 'a'.repeat(64) })).toEqual({ recognised: false, sourceUrl: '' })
  expect(await claim({ expires: link.expires + 1 })).toEqual({ recognised: false, sourceUrl: '' })
  await expect(claim({}, '3')).rejects.toMatchObject({ kind: 'invalid' })
})

test('a random name belongs to the organisation that signed it first', async () => {
  const name = `${randomUUID()}.mp4`
  const form = await signForm(name)
  await expect(signForm(name, { organisationId: '3' })).rejects.toMatchObject({ kind: 'invalid', fields: [{ field: 'conditions[1]' }] })
  expect((await post(form, Buffer.from('abc'))).status).toBe(204)
  await expect(complete(name, {}, user('3'))).rejects.toMatchObject({ reason: 'UPLOAD_NOT_FOUND' })
  expect((await complete(name)).signature).toMatch(/^[0-9a-f]{64}$/)
})

test('wrong sizes and forged forms leave no objects, and an object is not replaced by other bytes', async () => {
  const name = newUploadKey()
  expect(parseReason(await post(await signForm(name, { maxBytes: 1000 }), randomBytes(1001)))).toBe('ENTITY_TOO_LARGE')
  expect(parseReason(await post(await signForm(name, { minBytes: 10 }), randomBytes(9)))).toBe('ENTITY_TOO_SMALL')
  const form = await signForm(name)
  expect(parseReason(await post(new Map(form).set('key', newUploadKey('3')), Buffer.from('abc')))).toBe('POLICY_REFUSED')
  expect(parseReason(await post(new Map(form).set('x-amz-signature', 'a'.repeat(64)), Buffer.from('abc')))).toBe('POLICY_REFUSED')
  expect(await environment.objects('uploads')).toEqual([])
  expect((await post(form, Buffer.from('abc'))).status).toBe(204)
  expect((await post(form, Buffer.from('abc'))).status).toBe(204)
  expect(parseReason(await post(form, Buffer.from('abd')))).toBe('OBJECT_EXISTS')
  expect(await environment.db.query('select bytes from upload')).toEqual([{ bytes: '3' }])
})

test('an interrupted body or one that is not a form leaves no objects', async () => {
  const form = await signForm(newUploadKey())
  const boundary = 'cut-here'
  const fields = [...form].map(([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
  const opening = `${fields.join('')}--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a"\r\nContent-Type: video/mp4\r\n\r\n`
  const principal = await guestHeaders('r-3')
  const headers = { ...principal, 'content-type': `multipart/form-data; boundary=${boundary}` }
  const incoming = async () => (await filesIn(`${environment.folder}/storage`)).filter((name) => name.startsWith('.incoming/'))
  const cut = httpRequest(`http://${service.uploadAddress}/object`, {
    method: 'POST',
    headers: { ...headers, 'content-length': 50_000_000 },
  })
  cut.on('error', () => {}).write(opening)
  cut.write(randomBytes(5_000_000))
  await waitFor(async () => (await incoming()).length === 1)
  cut.destroy()
  await waitFor(async () => (await incoming()).length === 0)
  const post = async (body: string) => {
    const result = await fetch(`http://${service.uploadAddress}/object`, { method: 'POST', headers, body })
    return parseReason({ text: await result.text() })
  }
  expect(await post(`${opening}abc`)).toBe('MALFORMED_PAYLOAD')
  expect(await post(`${opening}abc\r\n--cut-`)).toBe('MALFORMED_PAYLOAD')
  expect(await post(fields.join(''))).toBe('MALFORMED_PAYLOAD')
  expect(await post('')).toBe('MALFORMED_PAYLOAD')
  expect([await environment.objects('uploads'), await incoming()]).toEqual([[], []])
  const bare = await fetch(`http://${service.uploadAddress}/object`, { method: 'POST', body: 'x' })
  expect(parseReason({ text: await bare.text() })).toBe('PRINCIPAL_MISSING')
})

test('an upload that no job reads is removed after a day', async () => {
  const [used, unused] = [newUploadKey(), newUploadKey()]
  for (const name of [used, unused]) await post(await signForm(name), Buffer.from('abc'))
  const { uploadId } = await complete(used)
  await environment.db.query(
    `insert into job (job_id, media_id, organisation_id, source_url, state) values (77, '9', '2', 'upload:' || $1, 'encoding')`,
    [uploadId],
  )
  const tools = {
    uploads: createUploadStore(environment.db),
    tusUploads: createTusStore(environment.db),
    storage: environment.storage,
    quota: environment.quota,
  }
  const sweep = async () => {
    const { signal } = new AbortController()
    for (const { remove } of uploadRetention(tools)) await deleteInBatches(remove, { signal })
    await sweepUnclaimed(tools, signal)
  }
  await sweep()
  expect((await environment.objects('uploads')).sort()).toEqual([used, unused].sort())
  await environment.db.query(`update upload set expire_time = now() - interval '1 second'`)
  await sweep()
  expect(await environment.objects('uploads')).toEqual([used])
  await expect(complete(unused)).rejects.toMatchObject({ reason: 'UPLOAD_NOT_FOUND' })
  await environment.db.query(`update job set state = 'ok'`)
  await sweep()
  expect([await environment.objects('uploads'), await environment.db.query('select * from upload')]).toEqual([[], []])
})
