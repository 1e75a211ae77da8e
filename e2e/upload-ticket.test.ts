// Faults: C2
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import { Upload } from 'tus-js-client'
import { asSuperuser } from './support/database.ts'
import { kill } from './support/nemesis.ts'
import { ffprobe, makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, type Tenant, waitUntilSettled } from './support/video-steps.ts'

let folder: string
let platform: TestPlatform
let tenant: Tenant
let video: Buffer

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vitascope-ticket-'))
  video = await readFile(join(folder, await makeSource(folder, 'small.mp4')))
  platform = await startTestPlatform()
}, 240_000)
beforeEach(async () => {
  tenant = await createTenant(platform.system, 'uploader')
}, 60_000)
afterAll(async () => {
  await platform?.remove()
  await rm(folder, { recursive: true, force: true })
})

async function createTicket(fields: Record<string, unknown> = {}): Promise<string> {
  const { status, body } = await platform.withKey(tenant.key).post<{ url: string }>('/upload/ticket', fields)
  expect(status).toBe(200)
  return body.url
}
const put = (url: string, file = video, headers: Record<string, string> = {}) =>
  fetch(url, { method: 'PUT', body: new Uint8Array(file), headers })
const codeOf = async (response: Response) => [response.status, ((await response.json()) as { code: string }).code]
const expectPlayable = async (videoId: string | null) => {
  const record = await waitUntilSettled(platform.withKey(tenant.key), videoId ?? '')
  expect(record.status.status).toBe('ok')
  return record
}
const countVideos = () =>
  asSuperuser(platform, async (client) => {
    const text = 'select count(*)::int as count from catalogue.video where organisation_id::text = $1'
    return (await client.query<{ count: number }>(text, [tenant.organisationId])).rows[0]?.count
  })

/** Kills encoding and waits until the platform is ready again. */
async function restartEncoding(): Promise<void> {
  const before = platform.pid('encoding')
  expect(kill(platform, 'encoding')).toBe(true)
  const isBack = () => platform.pid('encoding') !== before && platform.pid('encoding') !== undefined
  await waitFor(isBack, { timeout: 20_000, describe: 'encoding to be started again' })
  await waitFor(async () => (await fetch(`${platform.url}/readyz`)).ok, { timeout: 30_000, describe: 'the platform to be ready' })
}

test('curl sends a file to a ticket without a key, and the video plays', async () => {
  const url = await createTicket({ name: 'From a phone', kinds: ['video'] })
  const file = join(folder, 'phone.mp4')
  await writeFile(file, video)
  const { stdout } = await promisify(execFile)('curl', ['-sS', '-i', '-T', file, '-H', 'Content-Type: video/mp4', url])
  expect(stdout).toMatch(/^HTTP\/1\.1 (100|201)/)
  const videoId = /^x-video-id: (\d+)/im.exec(stdout)?.[1] ?? ''
  const record = await expectPlayable(videoId)
  expect(record.video_title).toBe('From a phone')
  const { streams } = await ffprobe(['-show_streams', record.uri.hls])
  expect(streams.map(({ codec_name }) => codec_name)).toContain('h264')
  expect(await codeOf(await put(url))).toEqual([410, 'ticket_used'])
  expect(await countVideos()).toBe(1)
}, 120_000)

test('a page of another origin may send the file and read the ids', async () => {
  const url = await createTicket()
  const origin = 'https://shop.example.org'
  const preflight = await fetch(url, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'PUT', 'access-control-request-headers': 'content-type' },
  })
  expect(preflight.status).toBe(204)
  expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
  expect(preflight.headers.get('access-control-allow-methods')).toContain('PUT')
  expect(preflight.headers.get('access-control-allow-headers')).toContain('Content-Type')
  const sent = await put(url, video, { origin, 'content-type': 'video/mp4' })
  expect([sent.status, sent.headers.get('access-control-allow-origin')]).toEqual([201, '*'])
  expect(sent.headers.get('access-control-expose-headers')).toContain('X-Video-Id')
})

test('another type, a larger file and a changed URL are rejected', async () => {
  const url = await createTicket({ max_bytes: video.length - 1, kinds: ['audio'] })
  expect(await codeOf(await put(url, video, { 'content-type': 'video/mp4' }))).toEqual([415, 'unsupported_media_type'])
  expect(await codeOf(await put(url))).toEqual([413, 'upload_too_large'])
  expect(await codeOf(await put(url.replace(/expires=\d/, 'expires=9')))).toEqual([404, 'upload_not_found'])
  expect(await countVideos()).toBe(0)
})

test('two files at the same time become one video', async () => {
  const url = await createTicket()
  const statuses = (await Promise.all([put(url), put(url)])).map(({ status }) => status)
  expect(statuses).toContain(201)
  expect(statuses.filter((status) => status === 201)).toHaveLength(1)
  expect(await countVideos()).toBe(1)
})

test('a file that is sent while encoding is killed can be sent again, and becomes one video', async () => {
  const url = await createTicket()
  const headers = { 'content-length': video.length }
  const sending = httpRequest(url, { method: 'PUT', headers, agent: false }).on('error', () => {})
  const ended = new Promise<number>((resolve) => {
    sending.once('error', () => resolve(0)).once('response', (response) => resolve(response.resume().statusCode ?? 0))
  })
  sending.write(video.subarray(0, 1_000))
  const isReceiving = () =>
    asSuperuser(platform, async (client) => {
      const text = 'select 1 from encoding.tus_upload where organisation_id = $1 and lease_end is not null'
      return ((await client.query(text, [tenant.organisationId])).rowCount ?? 0) > 0
    })
  await waitFor(isReceiving, { describe: 'encoding to receive the file' })
  await restartEncoding()
  sending.end(video.subarray(1_000))
  expect(await ended).not.toBe(201)
  expect(await countVideos()).toBe(0)
  const again = await put(url)
  expect(again.status).toBe(201)
  await expectPlayable(again.headers.get('x-video-id'))
  expect(await countVideos()).toBe(1)
}, 120_000)

test('a file that was accepted becomes its video when encoding is killed right after the response', async () => {
  const url = await createTicket()
  const sent = await put(url)
  expect(sent.status).toBe(201)
  await restartEncoding()
  await expectPlayable(sent.headers.get('x-video-id'))
  expect(await codeOf(await put(url))).toEqual([410, 'ticket_used'])
}, 120_000)

test('a tus client uploads to a ticket and resumes after encoding is killed', async () => {
  const url = await createTicket()
  let isKilled = false
  let videoId: string | undefined
  await new Promise<void>((resolve, reject) => {
    new Upload(video, {
      endpoint: url,
      metadata: { filename: 'phone.mp4', filetype: 'video/mp4' },
      chunkSize: Math.ceil(video.length / 4),
      retryDelays: Array<number>(60).fill(500),
      onProgress(sent) {
        if (!isKilled && sent > video.length / 2) isKilled = kill(platform, 'encoding')
      },
      onAfterResponse(_request, response) {
        videoId = response.getHeader('X-Video-Id') ?? videoId
      },
      onError: reject,
      onSuccess: () => resolve(),
    }).start()
  })
  expect(isKilled).toBe(true)
  if (videoId === undefined) {
    // The response had no video id, because the catalogue could not be reached at that moment.
    const findVideo = async () => (await fetch(url, { method: 'HEAD', headers: { 'tus-resumable': '1.0.0' } })).headers.get('x-video-id')
    videoId = await waitFor(findVideo, { timeout: 30_000, describe: 'the video of the ticket' })
  }
  expect((await expectPlayable(videoId ?? '')).video_title).toBe('phone.mp4')
  expect(await countVideos()).toBe(1)
}, 120_000)
