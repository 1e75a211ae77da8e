// Faults: C2, A2
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import type { Api } from './support/api.ts'
import { asSuperuser } from './support/database.ts'
import { kill } from './support/nemesis.ts'
import { makePicture, probePicture } from './support/pictures.ts'
import { type SourceServer, startSourceServer } from './support/source-server.ts'
import { makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, type Tenant, upload, type VideoRecord, waitUntilSettled } from './support/video-steps.ts'

interface PosterResponse extends Record<string, unknown> {
  poster: { status: string; code: number; reason: string }
  poster_frame: string
  thumbnail: string
}
interface Problem extends Record<string, unknown> {
  code: string
  errors?: { field: string; message: string }[]
}
/** A video as its owner reads it. */
type OwnedVideo = VideoRecord & { poster: PosterResponse['poster'] | null }

let folder: string
let platform: TestPlatform
let sources: SourceServer
let tenant: Tenant
let owner: Api
let other: Tenant

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vitascope-poster-'))
  sources = await startSourceServer(folder)
  await makeSource(folder, 'small.mp4')
  await makeSource(folder, 'other.mp4')
  platform = await startTestPlatform({ VITASCOPE_LEASE_MS: '3000', VITASCOPE_FETCH_LEASE_MS: '3000' })
  tenant = await createTenant(platform.system, 'uploader')
  other = await createTenant(platform.system)
  owner = platform.withKey(tenant.key)
}, 240_000)
afterAll(async () => {
  await platform?.remove()
  await sources?.close()
  await rm(folder, { recursive: true, force: true })
})

const send = <Body = PosterResponse>(videoId: string, body: Buffer, type = 'image/png', api: Api = owner) =>
  api.send<Body>('PUT', `/video/${videoId}/poster`, { body: new Uint8Array(body), headers: { 'content-type': type } })
const readVideo = async (videoId: string) => (await owner.get<OwnedVideo>(`/video/${videoId}`)).body
const addVideo = async (source: string) => (await upload(owner, tenant.organisationId, `${sources.url}/${source}`)).id
/** Expects that the URL has a JPEG, and returns its codec with its size, and its colour. */
const load = async (url: string) => {
  const response = await fetch(url)
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/jpeg'])
  return probePicture(Buffer.from(await response.arrayBuffer()))
}
/** Waits until the poster has this status, and returns the video. */
const waitForPoster = async (videoId: string, status = 'ok') => {
  await waitFor(async () => (await readVideo(videoId)).poster?.status === status, {
    timeout: 60_000,
    describe: `the picture to be ${status}`,
  })
  return readVideo(videoId)
}

/**
 * Delays the response to requests for the path, so that a video with this source has no rendition yet. The returned
 * function lets the source server respond with the file.
 */
function holdSource(path: string, file: string): () => void {
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  sources.setHandler(path, (_, response) => void released.then(() => response.writeHead(302, { location: `${sources.url}/${file}` }).end()))
  return release
}

/** Colours with channels from 0 to 3, as `probePicture` returns them. */
const RED = [3, 0, 0]
const BLUE = [0, 0, 3]
const WHITE = [3, 3, 3]

test('a picture set before the first rendition is served at once, and neither encoding nor a new source changes it', async () => {
  const release = holdSource('/held.mp4', 'small.mp4')
  const videoId = await addVideo('held.mp4')
  const sent = await send(videoId, await makePicture('jpg', 'red'), 'image/jpeg')
  expect(sent.status).toBe(202)
  const before = await waitForPoster(videoId)
  expect(before.uri.hls).toBe('')
  expect(before.status.status).not.toBe('ok')
  expect([await load(before.uri.poster_frame), await load(before.uri.thumbnail)]).toEqual([
    { size: 'mjpeg,1280,720', rgb: RED },
    { size: 'mjpeg,426,240', rgb: RED },
  ])
  expect((await platform.guest.get<VideoRecord>(`/video/${videoId}`)).body.uri.poster_frame).toBe(before.uri.poster_frame)

  release()
  const encoded = await waitUntilSettled(owner, videoId)
  expect(encoded.status.status).toBe('ok')
  expect((await load(encoded.uri.poster_frame)).rgb).toEqual(RED)
  // Pages that read the record before the first rendition still show the picture.
  expect((await load(before.uri.poster_frame)).rgb).toEqual(RED)

  await owner.put(`/media/${encoded.media_id}`, { uri: `${sources.url}/other.mp4` })
  await waitFor(async () => Number((await readVideo(videoId)).duration) < 5, { timeout: 90_000, describe: 'the new source' })
  expect((await load((await readVideo(videoId)).uri.poster_frame)).rgb).toEqual(RED)

  expect((await owner.delete(`/video/${videoId}/poster`)).status).toBe(200)
  const after = await readVideo(videoId)
  expect([after.poster, (await load(after.uri.poster_frame)).size]).toEqual([null, 'mjpeg,256,144'])
}, 240_000)

test.each([
  ['jpg', 'image/jpeg'],
  ['png', 'image/png'],
  ['webp', 'image/webp'],
] as const)(
  'a %s picture replaces the frame of an encoded video',
  async (extension, type) => {
    const videoId = await getEncodedVideo()
    const sent = await send(videoId, await makePicture(extension, 'blue', '640x640'), type)
    expect([sent.status, sent.body.poster]).toEqual([202, { status: 'ok', code: 0, reason: '' }])
    expect(await load(sent.body.poster_frame)).toEqual({ size: 'mjpeg,640,640', rgb: BLUE })
    expect(await load(sent.body.thumbnail)).toEqual({ size: 'mjpeg,240,240', rgb: BLUE })
  },
  120_000,
)

test('an invalid picture is rejected with the name of its field, and the images do not change', async () => {
  const videoId = await getEncodedVideo()
  await send(videoId, await makePicture('png', 'white'))
  const good = await waitForPoster(videoId)
  const png = await makePicture('png', 'red', '1000x1000')
  const gif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')
  sources.setHandler('/page', (_, response) => response.end('<!doctype html><title>No picture</title>'))
  const path = `/video/${videoId}/poster`
  const rejections: [string, string, Promise<{ status: number; body: Problem }>][] = [
    ['400', 'image', send<Problem>(videoId, gif, 'image/gif')],
    ['400', 'image', send<Problem>(videoId, gif, 'image/png')],
    ['400', 'image', send<Problem>(videoId, Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'image/svg+xml')],
    ['400', 'image', send<Problem>(videoId, Buffer.alloc(0))],
    ['413', 'image', send<Problem>(videoId, Buffer.concat([png, Buffer.alloc(11 * 2 ** 20)]))],
  ]
  for (const [status, field, response] of rejections) {
    const { status: actual, body } = await response
    expect([String(actual), body.errors?.map((error) => error.field) ?? body]).toEqual([status, [field]])
  }
  // A later picture replaces the job of an earlier one, so these are sent one after another.
  for (const [field, sendBad] of [
    ['image', () => send<Problem>(videoId, png.subarray(0, png.length / 2))],
    ['url', () => owner.put<Problem>(path, { url: `${sources.url}/page` })],
    ['url', () => owner.put<Problem>(path, { url: `${sources.url}/missing.png` })],
  ] as const) {
    const { status, body } = await sendBad()
    // A busy machine decodes the picture after the response. The status of the poster then reports the problem.
    if (status === 202) await waitForPoster(videoId, 'failed')
    else expect([status, body.errors?.map((error) => error.field) ?? body]).toEqual([400, [field]])
  }
  expect((await send<Problem>(videoId, gif, 'text/plain')).status).toBe(415)
  const video = await readVideo(videoId)
  expect(video.uri.poster_frame).toBe(good.uri.poster_frame)
  expect((await load(video.uri.poster_frame)).rgb).toEqual(WHITE)
}, 120_000)

test('another organisation cannot set a picture, and its bytes are not stored', async () => {
  const videoId = await getEncodedVideo()
  const before = await readVideo(videoId)
  const countUploads = () =>
    asSuperuser(platform, async (client) => (await client.query('select count(*)::int as count from encoding.upload')).rows)
  const uploads = await countUploads()
  const foreign = await send<Problem>(videoId, await makePicture('png', 'red'), 'image/png', platform.withKey(other.key))
  expect([foreign.status, foreign.body.code]).toEqual([404, 'video_not_found'])
  const guest = await send<Problem>(videoId, await makePicture('png', 'red'), 'image/png', platform.guest)
  expect(guest.status).toBe(401)
  expect(await readVideo(videoId)).toEqual(before)
  expect(await countUploads()).toEqual(uploads)
})

test('an accepted picture survives kill -9 of encoding and of the worker', async () => {
  const videoId = await getEncodedVideo()
  const picture = await makePicture('png', 'red')
  // The worker is killed first, so that the job of the picture waits for a worker while encoding is killed.
  expect(kill(platform, 'worker')).toBe(true)
  const accepting = send(videoId, picture)
  expect(kill(platform, 'encoding')).toBe(true)
  const { status } = await accepting
  if (status !== 202) {
    expect(status).toBe(503)
    await waitFor(async () => (await send(videoId, picture)).status === 202, { timeout: 60_000, describe: 'the picture to be accepted' })
  }
  await waitFor(() => kill(platform, 'encoding'), { timeout: 30_000, describe: 'encoding to run again' })
  expect(kill(platform, 'catalogue')).toBe(true)
  await waitFor(async () => (await owner.get(`/video/${videoId}`)).status === 200, { timeout: 60_000, describe: 'the catalogue' })
  const { uri } = await waitForPoster(videoId)
  await waitFor(async () => (await fetch(uri.poster_frame, { method: 'HEAD' })).status === 200, {
    timeout: 30_000,
    describe: 'delivery to reach the catalogue again',
  })
  expect((await load(uri.poster_frame)).rgb).toEqual(RED)
}, 240_000)

let encoded: Promise<string> | undefined
/** Returns the id of a video without a poster, which is encoded once for several tests. */
async function getEncodedVideo(): Promise<string> {
  encoded ??= addVideo('small.mp4').then(async (videoId) => {
    expect((await waitUntilSettled(owner, videoId)).status.status).toBe('ok')
    return videoId
  })
  const videoId = await encoded
  await owner.delete(`/video/${videoId}/poster`)
  return videoId
}
