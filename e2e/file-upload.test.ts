// Faults: C2
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { type ClientRequest, request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import type { Api } from './support/api.ts'
import { asSuperuser } from './support/database.ts'
import { kill } from './support/nemesis.ts'
import { ffprobe, makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, type Tenant, type UploadResponse, waitUntilSettled } from './support/video-steps.ts'

interface Problem extends Record<string, unknown> {
  code: string
  errors?: { field: string; message: string }[]
}
type Field = readonly [name: string, value: string]

const MAX_BYTES = 20 * 1024 * 1024
let folder: string
let platform: TestPlatform
let tenant: Tenant
let owner: Api
let video: Buffer

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vitascope-file-'))
  video = await readFile(join(folder, await makeSource(folder, 'small.mp4')))
  platform = await startTestPlatform({ VITASCOPE_SOURCE_MAX_BYTES: String(MAX_BYTES) })
}, 240_000)
beforeEach(async () => {
  tenant = await createTenant(platform.system, 'uploader')
  owner = platform.withKey(tenant.key)
}, 60_000)
afterAll(async () => {
  await platform?.remove()
  await rm(folder, { recursive: true, force: true })
})

function send<Body = UploadResponse>(fields: readonly Field[], file = video, headers: Record<string, string> = {}, api = owner) {
  const body = new FormData()
  for (const [name, value] of fields) body.append(name, value)
  body.append('file', new Blob([new Uint8Array(file)]), 'clip.mp4')
  return api.send<Body>('POST', '/video/upload', { body, headers })
}

/** Returns the rows of a statement. Its parameter `$1` is the id of the organisation. */
const rows = (statement: string) =>
  asSuperuser(platform, async (client) => (await client.query<Record<string, unknown>>(statement, [tenant.organisationId])).rows)
const reservations = () => rows('select bytes::int, is_open from catalogue.upload_reservation where organisation_id::text = $1')
const videos = () => rows('select 1 from catalogue.video where organisation_id::text = $1')
const storedFiles = async ({ organisationId } = tenant) => {
  const files = await readdir(join(platform.dataDir, 'storage', 'uploads', organisationId)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  return files.length
}
const expectNoRows = async () => {
  await waitFor(async () => (await reservations()).length === 0, { describe: 'the reservations to be released' })
  expect(await videos()).toEqual([])
}
const waitForNoFiles = (owner?: Tenant) =>
  waitFor(async () => (await storedFiles(owner)) === 0, { timeout: 130_000, describe: 'the files to be deleted' })

/** Organisation whose files were all rejected. */
let rejectedTenant: Tenant | undefined

test('rejected files leave no video and no reservation', async () => {
  const withFields = [
    [[['theme_id', '4611686018427387905']], video, 404, 'theme_not_found'],
    [[], Buffer.alloc(0), 400, 'invalid_input'],
    [[], Buffer.alloc(MAX_BYTES + 1), 413, 'upload_too_large'],
  ] as const
  for (const [fields, file, status, code] of withFields) {
    const answer = await send<Problem>(fields, file)
    expect([answer.status, answer.body.code]).toEqual([status, code])
    if (code !== 'theme_not_found') expect(answer.body.errors?.map(({ field }) => field)).toEqual(['file'])
  }
  const late = new FormData()
  late.append('file', new Blob([new Uint8Array(video)]), 'clip.mp4')
  late.append('name', 'Late')
  const answer = await owner.send<Problem>('POST', '/video/upload', { body: late })
  expect([answer.status, answer.body.errors]).toEqual([400, [{ field: 'name', message: 'must be sent in front of the part file' }]])
  await expectNoRows()
  rejectedTenant = tenant
})

test('curl sends a file in one request, and the video plays', async () => {
  const { stdout } = await promisify(execFile)('curl', [
    ...['-sS', '-u', `${tenant.key}:x`, '-F', 'name=Launch', '-F', 'tags=a', '-F', 'tags=b', '-F', 'visibility=unlisted'],
    ...['-F', `file=@${join(folder, 'small.mp4')}`, `${platform.url}/v2/video/upload`],
  ])
  const accepted = JSON.parse(stdout) as UploadResponse
  expect(accepted).toMatchObject({ action: 'new video', status: { status: 'waiting for encoding', progress: 0, code: 1 } })
  expect((await owner.get(`/job/${accepted.job_id}`)).body).toMatchObject({ video_id: accepted.id })
  const record = await waitUntilSettled(owner, accepted.id)
  expect(record).toMatchObject({ video_title: 'Launch', tags: ['a', 'b'], visibility: 'unlisted', status: { status: 'ok' } })
  const { streams } = await ffprobe(['-show_streams', record.uri.hls])
  expect(streams.map(({ codec_name }) => codec_name)).toContain('h264')
  expect(await reservations()).toEqual([])
}, 180_000)

test('without fields the title is the file name, and a system key names the organisation', async () => {
  const { status, body } = await send([])
  expect(status).toBe(200)
  const named = await send([['organisation_id', tenant.organisationId]], video, {}, platform.system)
  expect(named.status).toBe(200)
  for (const { id } of [body, named.body]) expect((await owner.get(`/video/${id}`)).body).toMatchObject({ video_title: 'clip.mp4' })
  expect((await send([], video, {}, platform.system)).status).toBe(400)
  expect((await send<Problem>([['organisation_id', '999999']], video, {}, platform.system)).body.code).toBe('organisation_not_found')
})

test('a file replaces the source of a media', async () => {
  const { body } = await send([])
  const { body: record } = await owner.get<{ media_id: string }>(`/video/${body.id}`)
  const replaced = await send([['media_id', record.media_id]])
  expect([replaced.status, replaced.body]).toMatchObject([200, { id: body.id, action: 'replace' }])
})

test('an idempotency key makes a retry safe, and the repeated file is removed', async () => {
  const headers = { 'idempotency-key': 'launch-1' }
  const first = await send([['name', 'Launch']], video, headers)
  const second = await send([['name', 'Launch']], video, headers)
  expect([first.status, second.status, second.body]).toEqual([200, 200, first.body])
  expect(await videos()).toHaveLength(1)
  const other = await send<Problem>([['name', 'Launch']], Buffer.concat([video, Buffer.from('x')]), headers)
  expect([other.status, other.body.code]).toEqual([422, 'idempotency_mismatch'])
  expect(await reservations()).toEqual([])
})

test('a file above the quota is rejected before it is read', async () => {
  await platform.system.put(`/organisation/${tenant.organisationId}`, { quota: { bytes: 1_000 } })
  const answer = async () => (await send<Problem>([])).body.code
  await waitFor(async () => (await answer()) === 'quota_bytes', { describe: 'the catalogue to know the quota' })
  expect(await storedFiles()).toBeLessThanOrEqual(1)
})

test('a connection that is cut leaves nothing behind', async () => {
  const sending = await beginFile()
  sending.destroy()
  await expectNoRows()
  await waitForNoFiles()
})

const KILL_TITLE = 'a file that is sent while %s is killed is rejected or becomes one video, and a retry works'
test.each(['catalogue', 'gateway'])(KILL_TITLE, sendDuringKill, 180_000)

// Runs before the next test because encoding deletes files once a minute and its restart delays that.
test('the files of rejected requests are deleted', async () => {
  expect(rejectedTenant).toBeDefined()
  await waitForNoFiles(rejectedTenant)
}, 180_000)

test.each(['encoding'])(KILL_TITLE, sendDuringKill, 180_000)

async function sendDuringKill(name: string): Promise<void> {
  const sending = await beginFile()
  const before = platform.pid(name)
  expect(kill(platform, name)).toBe(true)
  sending.end(Buffer.concat([video.subarray(1_000), END]))
  const accepted = (await readStatus(sending)) === 200 ? 1 : 0
  const isBack = () => platform.pid(name) !== before && platform.pid(name) !== undefined
  await waitFor(isBack, { timeout: 20_000, describe: `${name} to be started again` })
  await waitFor(async () => (await fetch(`${platform.url}/readyz`).catch(() => undefined))?.ok, { timeout: 30_000 })
  expect(await videos()).toHaveLength(accepted)
  const retried = await send([])
  expect(retried.status).toBe(200)
  expect((await waitUntilSettled(owner, retried.body.id)).status.status).toBe('ok')
  expect(await videos()).toHaveLength(accepted + 1)
  // The reservation of a request that was killed expires after 10 min.
  const remaining = await rows(
    `select extract(epoch from expire_time - now())::int as seconds from catalogue.upload_reservation where organisation_id::text = $1`,
  )
  for (const { seconds } of remaining) expect(seconds).toBeLessThanOrEqual(600)
}

const END = Buffer.from('\r\n--b--\r\n')

/** Starts a form, sends the first 1000 bytes of the file, and waits until encoding has reserved its bytes. */
async function beginFile(): Promise<ClientRequest> {
  const head = Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="a.mp4"\r\n\r\n')
  const headers = {
    authorization: `Bearer ${tenant.key}`,
    'content-type': 'multipart/form-data; boundary=b',
    'content-length': head.length + video.length + END.length,
  }
  const sending = httpRequest(`${platform.url}/v2/video/upload`, { method: 'POST', headers, agent: false }).on('error', () => {})
  sending.write(Buffer.concat([head, video.subarray(0, 1_000)]))
  await waitFor(async () => (await reservations()).length === 1, { describe: 'the file to reserve bytes' })
  return sending
}

/** Returns the status of the response, or 0 if the connection ended without one. */
function readStatus(sending: ClientRequest): Promise<number> {
  return new Promise((resolve) => {
    sending.once('error', () => resolve(0))
    sending.once('close', () => resolve(0))
    sending.once('response', (response) => {
      response.resume().once('close', () => resolve(response.statusCode ?? 0))
    })
  })
}
