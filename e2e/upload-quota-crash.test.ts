import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { type ClientRequest, request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import { asSuperuser } from './support/database.ts'
import { longTest } from './support/long-test.ts'
import { kill } from './support/nemesis.ts'
import { makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { signFormFields } from './support/timed-uploads.ts'
import { createTenant, type Tenant, waitUntilSettled } from './support/video-steps.ts'

const MB = 1_000_000
const QUOTA_BYTES = 100 * MB
/** Maximum remaining lifetime of the reservation of a killed request (`REQUEST_LIFETIME_SECONDS` of encoding). */
const MAX_ORPHAN_SECONDS = 600
const SWEEP_TIMEOUT_MS = 90_000

let folder: string
let platform: TestPlatform
let tenant: Tenant

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vitascope-quota-crash-'))
  await makeSource(folder, 'small.mp4')
  platform = await startTestPlatform()
}, 120_000)
beforeEach(async () => {
  tenant = await createTenant(platform.system)
  await platform.system.put(`/organisation/${tenant.organisationId}`, { quota: { bytes: QUOTA_BYTES } })
  const isKnown = async () =>
    (await rows('select 1 from catalogue.organisation where organisation_id = $1 and quota_bytes = $2', QUOTA_BYTES)).length === 1
  await waitFor(isKnown, { describe: 'the catalogue to know the quota' })
}, 60_000)
afterAll(async () => {
  await platform?.remove()
  await rm(folder, { recursive: true, force: true })
})

test('a tus upload keeps its reservation when encoding is killed, until its video replaces it', async () => {
  const file = await buildPaddedVideo(4 * MB)
  const path = await beginTus(file.length)
  const sending = patch(path, 0, file.length)
  sending.write(file.subarray(0, MB))
  await waitFor(
    async () => (await rows('select 1 from encoding.tus_upload where organisation_id = $1 and lease_end is not null')).length === 1,
  )
  await killAndWait('encoding')
  expect(await reservedBytes()).toBe(file.length)
  expect((await tus('POST', '/upload/tus', { 'upload-length': String(QUOTA_BYTES - file.length + 1) })).status).toBe(413)
  const otherUpload = await beginTus(QUOTA_BYTES - file.length)
  expect((await tus('DELETE', otherUpload)).status).toBe(204)

  const offset = Number((await tus('HEAD', path)).headers.get('upload-offset'))
  const rest = patch(path, offset, file.length - offset)
  rest.end(file.subarray(offset))
  const { status, headers } = await readResponse(rest)
  expect(status).toBe(204)
  const reserved = await rows('select 1 from catalogue.upload_reservation where organisation_id = $1')
  expect(reserved).toEqual([])
  await waitUntilSettled(platform.withKey(tenant.key), String(headers['x-video-id']))
  expect(await reservedBytes()).toBe(0)
}, 180_000)

test('an upload that is deleted after a kill releases its reservation', async () => {
  const deleted = await beginTus(10 * MB)
  await beginTus(20 * MB)
  await killAndWait('catalogue')
  await killAndWait('encoding')
  expect(await reservedBytes()).toBe(30 * MB)
  expect((await tus('DELETE', deleted)).status).toBe(204)
  expect(await reservedBytes()).toBe(20 * MB)
}, 180_000)

// The sweep runs one minute after the start of encoding.
longTest(
  'an upload that expires after a kill releases its reservation',
  async () => {
    const expired = await beginTus(20 * MB)
    await killAndWait('catalogue')
    await killAndWait('encoding')
    await rows(`update encoding.tus_upload set expire_time = now() - interval '1 second' where organisation_id = $1 returning 1`)
    const isReleased = async () => (await reservedBytes()) === 0
    await waitFor(isReleased, { timeout: SWEEP_TIMEOUT_MS, describe: 'the sweep to release the reservation' })
    expect((await tus('HEAD', expired)).status).toBe(404)
  },
  180_000,
)

test('the reservation of an object form that is interrupted by a kill ends after 10 min, and a retry counts once', async () => {
  const { body, fields, file } = await beginForm()
  const started = await reservedBytes()
  await killAndWait('encoding')
  expect(await reservedBytes()).toBe(started)
  await postUntilAccepted(body)
  expect(await reservedBytes()).toBe(started + file.length)
  await endOrphans()
  expect(await reservedBytes()).toBe(file.length)
  await createVideoFrom(fields.get('key') ?? '', 'a.mp4')
}, 180_000)

test('a file whose form is killed between storing and recording it counts once, before and after the form is repeated', async () => {
  const { body, fields, file, sending } = await beginForm()
  const key = fields.get('key') ?? ''
  const uploads = await lock('lock table encoding.upload')
  sending.end(body.subarray(MB))
  await waitFor(() => existsSync(join(platform.dataDir, 'storage', key)), { describe: 'the object to be stored' })
  await killAndWait('encoding', uploads)
  await endOrphans()
  expect(await reservedBytes()).toBe(file.length)
  await postUntilAccepted(body)
  await endOrphans()
  expect(await reservedBytes()).toBe(file.length)
  await createVideoFrom(key, 'b.mp4')
}, 180_000)

test('a file whose form is killed between storing and recording it counts once when a video is created from it', async () => {
  const { body, fields, file, sending } = await beginForm()
  const key = fields.get('key') ?? ''
  const uploads = await lock('lock table encoding.upload')
  sending.end(body.subarray(MB))
  await waitFor(() => existsSync(join(platform.dataDir, 'storage', key)), { describe: 'the object to be stored' })
  const usage = await lock(`select 1 from catalogue.organisation_usage where organisation_id::text = '${tenant.organisationId}' for update`)
  await uploads.release()
  const isWaiting = async () => (await rows(`select 1 from pg_locks where not granted and $1 <> ''`)).length > 0
  await waitFor(isWaiting, { describe: 'the reservation to wait' })
  await killAndWait('encoding', usage)
  await endOrphans()
  expect(await reservedBytes()).toBe(file.length)
  await createVideoFrom(key, 'c.mp4')
}, 180_000)

test('a form that is accepted while the catalogue is down counts once after a retry', async () => {
  const { body, file, sending } = await beginForm()
  expect(kill(platform, 'catalogue')).toBe(true)
  sending.end(body.subarray(MB))
  await readResponse(sending)
  await postUntilAccepted(body)
  await waitUntilReady()
  await endOrphans()
  expect(await reservedBytes()).toBe(file.length)
}, 120_000)

test('tus uploads that start while catalogue and encoding are killed reserve their lengths once', async () => {
  const paths: string[] = []
  for (const name of ['catalogue', 'encoding', 'catalogue', 'encoding']) {
    const before = paths.length
    const killed = killAndWait(name)
    while (paths.length < before + 3) {
      const started = await tus('POST', '/upload/tus', { 'upload-length': String(MB) }).catch(() => undefined)
      if (started?.status === 201) paths.push(new URL(started.headers.get('location') ?? '').pathname.replace('/v2', ''))
    }
    await killed
  }
  await endOrphans(`not exists (select from encoding.tus_upload t where t.upload_id = r.reservation_id)`)
  const uploadRows = (await rows('select 1 from encoding.tus_upload where organisation_id = $1')).length
  expect(uploadRows).toBeGreaterThanOrEqual(paths.length)
  expect(await reservedBytes()).toBe(uploadRows * MB)
  for (const path of paths) expect((await tus('DELETE', path)).status).toBe(204)
  expect(await reservedBytes()).toBe((uploadRows - paths.length) * MB)
}, 180_000)

/**
 * Kills a process, releases the lock that it waited for, and waits until a new process is running
 * and the platform is ready.
 */
async function killAndWait(name: string, lockOfDatabase?: { release(): Promise<void> }): Promise<void> {
  const before = platform.pid(name)
  expect(kill(platform, name)).toBe(true)
  await lockOfDatabase?.release()
  const isBack = () => platform.pid(name) !== before && platform.pid(name) !== undefined
  await waitFor(isBack, { timeout: 20_000, describe: `${name} to be started again` })
  await waitUntilReady()
}

async function waitUntilReady(): Promise<void> {
  const isReady = async () => (await fetch(`${platform.url}/readyz`)).ok
  await waitFor(isReady, { timeout: 30_000, describe: 'the platform to be ready' })
}

/** Returns the rows of a statement. Its parameter `$1` is the id of the organisation, and `values` follow. */
function rows(statement: string, ...values: unknown[]): Promise<Record<string, unknown>[]> {
  const text = statement.replaceAll('organisation_id = $1', 'organisation_id::text = $1')
  return asSuperuser(platform, async (client) => (await client.query(text, [tenant.organisationId, ...values])).rows)
}

/** Holds a lock of the database until `release`. */
async function lock(statement: string): Promise<{ release(): Promise<void> }> {
  const reserved = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const session = asSuperuser(platform, async (client) => {
    await client.query('begin')
    await client.query(statement)
    reserved.resolve()
    await released.promise
    await client.query('rollback')
  })
  await Promise.race([reserved.promise, session])
  return {
    async release() {
      released.resolve()
      await session
    },
  }
}

/** Starts an object form with 2 MB, sends the beginning, and waits for its reservation. */
async function beginForm() {
  const file = Buffer.alloc(2 * MB, 'a')
  const form = await buildForm(file, 30 * MB)
  const sending = post(form.body.length)
  sending.write(form.body.subarray(0, MB))
  await waitFor(async () => (await reservedBytes()) > 0, { describe: 'the form to reserve bytes' })
  return { ...form, file, sending }
}

interface Organisation extends Record<string, unknown> {
  usage: { bytes_reserved: string }
}

async function reservedBytes(): Promise<number> {
  const { status, body } = await platform.system.get<Organisation>(`/organisation/${tenant.organisationId}`)
  if (status !== 200) throw new Error(`the organisation returned ${status}`)
  return Number(body.usage.bytes_reserved)
}

/**
 * Sets the expiry of the reservations of killed requests to the past, as if their lifetime had ended. Throws
 * if one of them would have lasted longer than `MAX_ORPHAN_SECONDS`.
 */
async function endOrphans(which = 'r.is_open'): Promise<void> {
  const ended = await rows(
    `update catalogue.upload_reservation r set expire_time = now() - interval '1 second' where organisation_id = $1 and ${which}
     returning extract(epoch from (select o.expire_time from catalogue.upload_reservation o where o.reservation_id = r.reservation_id) - now()) as remaining_seconds`,
  )
  for (const { remaining_seconds } of ended) expect(Number(remaining_seconds)).toBeLessThanOrEqual(MAX_ORPHAN_SECONDS)
}

/** Returns a playable video, followed by an unused box of `bytes`. */
async function buildPaddedVideo(bytes: number): Promise<Buffer> {
  const box = Buffer.alloc(bytes, 'unread')
  box.writeUInt32BE(bytes, 0)
  box.write('free', 4, 'latin1')
  return Buffer.concat([await readFile(join(folder, 'small.mp4')), box])
}

function tus(method: string, path: string, headers: Record<string, string> = {}): Promise<Response> {
  const requestHeaders = { authorization: `Bearer ${tenant.key}`, 'tus-resumable': '1.0.0', ...headers }
  return fetch(`${platform.url}/v2${path}`, { method, headers: requestHeaders })
}

async function beginTus(length: number): Promise<string> {
  const started = await tus('POST', '/upload/tus', { 'upload-length': String(length) })
  if (started.status !== 201) throw new Error(`a tus upload returned ${started.status}: ${await started.text()}`)
  return new URL(started.headers.get('location') ?? '').pathname.replace('/v2', '')
}

function patch(path: string, offset: number, length: number): ClientRequest {
  const headers = {
    authorization: `Bearer ${tenant.key}`,
    'tus-resumable': '1.0.0',
    'content-type': 'application/offset+octet-stream',
    'upload-offset': offset,
    'content-length': length,
  }
  return httpRequest(`${platform.url}/v2${path}`, { method: 'PATCH', headers, agent: false }).on('error', () => {})
}

/** Returns the body of an object form, whose policy allows up to `maxBytes`. */
async function buildForm(file: Buffer, maxBytes: number): Promise<{ body: Buffer; fields: Map<string, string> }> {
  const key = `uploads/${tenant.organisationId}/${randomUUID()}.mp4`
  const fields = await signFormFields(platform, tenant, [{ key }, ['content-length-range', '1', String(maxBytes)]])
  const parts = [...fields].map(([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
  const head = `${parts.join('')}--b\r\nContent-Disposition: form-data; name="file"; filename="a.mp4"\r\n\r\n`
  return { body: Buffer.concat([Buffer.from(head), file, Buffer.from('\r\n--b--\r\n')]), fields }
}

function post(length: number): ClientRequest {
  const headers = { 'content-type': 'multipart/form-data; boundary=b', 'content-length': length }
  return httpRequest(`${platform.url}/v2/upload/object`, { method: 'POST', headers, agent: false }).on('error', () => {})
}

/** Returns the response to a request, with status 0 if the connection ended without one. */
function readResponse(request: ClientRequest): Promise<{ status: number; headers: Record<string, unknown> }> {
  return new Promise((resolve) => {
    request.once('error', () => resolve({ status: 0, headers: {} }))
    request.once('response', (response) => {
      response.resume().once('close', () => resolve({ status: response.statusCode ?? 0, headers: response.headers }))
    })
  })
}

/** Sends a form until it is accepted, like a client whose response was lost. */
async function postUntilAccepted(body: Buffer): Promise<void> {
  let status = 0
  const isAccepted = async () => {
    const sending = post(body.length)
    sending.end(body)
    status = (await readResponse(sending)).status
    return status === 204
  }
  await waitFor(isAccepted, { timeout: 20_000, interval: 200, describe: () => `the form to be accepted, which returned ${status}` })
}

/** Creates a video from the file of a form, which releases the reservation of the file. */
async function createVideoFrom(key: string, name: string): Promise<void> {
  const api = platform.withKey(tenant.key)
  const { body: completed } = await api.post<{ tempLink: string }>('/upload/success?success', { key, name })
  const { status, body } = await api.post<{ id: string }>('/video/upload', {
    url: completed.tempLink,
    organisation_id: tenant.organisationId,
  })
  expect(status).toBe(200)
  expect(await rows('select 1 from catalogue.upload_reservation where organisation_id = $1 and expire_time > now()')).toEqual([])
  // The file is not playable.
  expect((await waitUntilSettled(api, body.id)).status.status).toBe('failed')
  expect(await reservedBytes()).toBe(0)
}
