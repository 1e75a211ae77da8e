import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { DomainError, notFound } from '@vitascope/errors'
import { createGrpcServer, type GrpcServer } from '@vitascope/grpc'
import {
  GetPlaybackPolicyResponse,
  GetPresentationPolicyResponse,
  PlaybackPolicyServiceService,
} from '@vitascope/proto/catalogue/v1/playback_policy'
import { PreviewPlaylistServiceService } from '@vitascope/proto/encoding/v1/preview_playlist'
import { makeTokenKeys, parseAddressRules, parseTokenKeys, signVideoToken } from '@vitascope/security'
import { openFileStorage } from '@vitascope/storage'
import { createMetrics } from '@vitascope/telemetry'
import { testLog, waitFor } from '@vitascope/testing'
import { testKeyFiles, testPrincipals } from '@vitascope/testing/principal-keys'
import { startDelivery } from '../src/service.ts'

const tokenKeys = parseTokenKeys(makeTokenKeys())
const PLAYLIST = '#EXTM3U\nseg-1.m4s\n'
const BYTES = Buffer.from(Array.from({ length: 1_000 }, (_, i) => i % 251))

let root: string
let catalogue: GrpcServer
let encoding: GrpcServer
/** What encoding has of job 7: the last segment, or nothing any more. */
let last: number | undefined
const requested: string[] = []
let delivery: Awaited<ReturnType<typeof startDelivery>>
const policies = new Map<string, Partial<GetPlaybackPolicyResponse>>()
const presentationPolicies = new Map<string, Partial<GetPresentationPolicyResponse>>()
const anHour = () => new Date(Date.now() + 3_600_000)

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'delivery-'))
  const storage = await openFileStorage({ root })
  await storage.put('media/1/7-1/hls/master.m3u8', Buffer.from(PLAYLIST))
  await storage.put('media/1/7-1/h264_100.mp4', BYTES)
  await storage.put('media/1/7-1/hls/h264_100/index.m3u8', Buffer.from('#EXTM3U all'))
  await storage.put('work/7/3/h264_100/init.mp4', Buffer.from('init'))
  await storage.put('work/7/3/h264_100/seg-00001.m4s', Buffer.from('one'))
  for (const name of ['seg-00002', 'seg-00010']) await storage.put(`work/7/5/h264_100/${name}.m4s`, Buffer.from(name))
  await storage.put('slides/5/8-1/slide-0001.jpg', BYTES)
  await storage.put('slides/5/9-2/slide-0001.jpg', BYTES.subarray(1))
  await storage.put('slides/5/8-1/document.pdf', Buffer.from('%PDF-'))
  await storage.put('secret/file.txt', Buffer.from('not for you'))
  const log = testLog
  catalogue = createGrpcServer({ principals: testPrincipals(), log, metrics: createMetrics('test') })
  catalogue.implement(PlaybackPolicyServiceService, {
    async getPlaybackPolicy({ videoId }) {
      const policy = policies.get(videoId)
      if (!policy) throw notFound('video', videoId)
      return GetPlaybackPolicyResponse.fromPartial(policy)
    },
    async getPresentationPolicy({ presentationId }) {
      const policy = presentationPolicies.get(presentationId)
      if (!policy) throw notFound('presentation', presentationId)
      return GetPresentationPolicyResponse.fromPartial(policy)
    },
  })
  encoding = createGrpcServer({ principals: testPrincipals(), log, metrics: createMetrics('test') })
  const need = (jobId: string) => {
    if (jobId !== '7' || last === undefined) throw new DomainError('not_found', 'PREVIEW_NOT_FOUND', 'nothing')
    return last
  }
  encoding.implement(PreviewPlaylistServiceService, {
    async getPreviewMasterPlaylist({ jobId }) {
      need(jobId)
      return { text: PLAYLIST }
    },
    async getPreviewTrackPlaylist({ jobId, key: track }) {
      requested.push(track)
      const folders = [
        { first: 1, folder: 'work/7/3/h264_100' },
        { first: 2, folder: 'work/7/5/h264_100' },
      ]
      return { playlist: `#EXTM3U ${need(jobId)}`, initObject: 'work/7/3/h264_100/init.mp4', segments: folders }
    },
  })
  delivery = await startDelivery(
    {
      listen: '127.0.0.1:0',
      metricsListen: '127.0.0.1:0',
      catalogueAddress: await catalogue.listen('127.0.0.1:0'),
      encodingAddress: await encoding.listen('127.0.0.1:0'),
      principalKeys: testKeyFiles('delivery'),
      tokenKeys,
      objects: { folder: root },
      s3Mode: 'proxy',
      storageReads: 48,
      downloads: { perAddress: 256, total: 4_096 },
      trustedProxies: parseAddressRules(['127.0.0.1']).rules ?? [],
    },
    log,
  )
})
afterAll(async () => {
  await delivery.stop()
  await catalogue.drain()
  await encoding.drain()
  await rm(root, { recursive: true })
})

let video = 100
let sets: { version: string; prefix: string }[]
beforeEach(() => {
  // A video of its own for each test: policies are cached for a while.
  video++
  sets = [{ version: 'v1', prefix: 'media/1/7-1' }]
})

const get = (path: string, init: RequestInit & { from?: string } = {}) =>
  fetch(`http://${delivery.address}/delivery/${path}`, {
    ...init,
    headers: { ...init.headers, ...(init.from && { 'x-forwarded-for': init.from }) },
    redirect: 'manual',
  })
const aVideo = (policy: Partial<GetPlaybackPolicyResponse> = {}) => {
  policies.set(String(video), { sets, ...policy })
  return String(video)
}

describe('a public video', () => {
  test('gives its files, cacheable for long, readable by scripts of other pages', async () => {
    const response = await get(`${aVideo()}/v1/hls/master.m3u8`)
    expect([response.status, await response.text()]).toEqual([200, PLAYLIST])
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/vnd.apple.mpegurl',
      'cache-control': 'public, max-age=31536000, immutable',
      'access-control-allow-origin': '*',
      'x-content-type-options': 'nosniff',
    })
  })
  test('answers HEAD with the length and no body', async () => {
    const response = await get(`${aVideo()}/v1/h264_100.mp4`, { method: 'HEAD' })
    expect([response.status, response.headers.get('content-length'), await response.text()]).toEqual([200, '1000', ''])
  })
  test('answers 304 to the tag that it gave', async () => {
    const id = aVideo()
    const etag = (await get(`${id}/v1/h264_100.mp4`, { method: 'HEAD' })).headers.get('etag') ?? ''
    expect((await get(`${id}/v1/h264_100.mp4`, { headers: { 'if-none-match': etag } })).status).toBe(304)
  })
  test.each([
    ['bytes=0-9', 206, 'bytes 0-9/1000', BYTES.subarray(0, 10)],
    ['bytes=990-', 206, 'bytes 990-999/1000', BYTES.subarray(990)],
    ['bytes=-5', 206, 'bytes 995-999/1000', BYTES.subarray(995)],
    ['bytes=900-5000', 206, 'bytes 900-999/1000', BYTES.subarray(900)],
    ['bytes=1000-', 416, 'bytes */1000', Buffer.alloc(0)],
    ['bytes=5-2', 200, null, BYTES],
    ['bytes=0-1,5-6', 200, null, BYTES],
    ['chapters=1-2', 200, null, BYTES],
  ])('range %s is answered %i', async (range, status, contentRange, bytes) => {
    const response = await get(`${aVideo()}/v1/h264_100.mp4`, { headers: { range } })
    expect([response.status, response.headers.get('content-range')]).toEqual([status, contentRange])
    expect(Buffer.compare(Buffer.from(await response.arrayBuffer()), bytes)).toBe(0)
  })
  test.each(['v2/h264_100.mp4', 'v1/none.mp4', 'v1/../../../secret/file.txt', 'v1/%2e%2e/x', 'v1//h264_100.mp4', 'v1/h264_100.mp4/', 'v1'])(
    '%s is not found',
    async (rest) => {
      expect((await get(`${aVideo()}/${rest}`)).status).toBe(404)
    },
  )
  test('refuses to be written', async () => {
    const response = await get(`${aVideo()}/v1/h264_100.mp4`, { method: 'PUT', body: 'x' })
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
  })
  test('that has expired is not found', async () => {
    expect((await get(`${aVideo({ expireTime: new Date(Date.now() - 1) })}/v1/h264_100.mp4`)).status).toBe(404)
  })
})

describe('a video that is still being encoded', () => {
  const preview = () => [{ version: 'v1', prefix: 'preview/7' }]
  test('has playlists that caches ask for again, and the segments of each chunk from where it lies', async () => {
    last = 2
    const id = aVideo({ sets: preview() })
    for (const [file, body] of [
      ['hls/master.m3u8', PLAYLIST],
      ['hls/h264_100/index.m3u8', '#EXTM3U 2'],
      ['hls/h264_100/init.mp4', 'init'],
      ['hls/h264_100/seg-00001.m4s', 'one'],
      ['hls/h264_100/seg-00002.m4s', 'seg-00002'],
      ['hls/h264_100/seg-00010.m4s', 'seg-00010'],
    ] as const) {
      const response = await get(`${id}/v1/${file}`)
      expect([file, response.status, await response.text()]).toEqual([file, 200, body])
      const caching = file.endsWith('.m3u8') ? 'public, max-age=0, must-revalidate' : 'public, max-age=31536000, immutable'
      expect(response.headers.get('cache-control')).toBe(caching)
    }
    for (const file of ['hls/h264_100/seg-00011.m4s', 'h264_100.mp4', 'hls/h264_100', 'hls/h264_100/seg-1.m4s']) {
      expect([file, (await get(`${id}/v1/${file}`)).status]).toEqual([file, 404])
    }
  })
  test('grows within seconds, for one question a second', async () => {
    last = 2
    const id = aVideo({ sets: preview() })
    requested.length = 0
    const playlist = async () => (await get(`${id}/v1/hls/h264_250/index.m3u8`)).text()
    expect(await Promise.all(Array.from({ length: 20 }, playlist))).toEqual(Array(20).fill('#EXTM3U 2'))
    expect(requested).toEqual(['h264_250'])
    last = 3
    await waitFor(async () => (await playlist()) === '#EXTM3U 3')
    const tag = (await get(`${id}/v1/hls/h264_250/index.m3u8`)).headers.get('etag') ?? ''
    expect((await get(`${id}/v1/hls/h264_250/index.m3u8`, { headers: { 'if-none-match': tag } })).status).toBe(304)
  })
  test('goes on at the same address once it is done, without a refusal between', async () => {
    last = 2
    const id = aVideo({ sets: preview() })
    expect((await get(`${id}/v1/hls/h264_360/index.m3u8`)).status).toBe(200)
    last = undefined
    aVideo()
    const seen = new Set<string>()
    await waitFor(async () => {
      const response = await get(`${id}/v1/hls/h264_100/index.m3u8`)
      seen.add(`${response.status} ${await response.text()}`)
      return seen.has('200 #EXTM3U all')
    })
    expect([...seen].filter((answer) => !answer.startsWith('200'))).toEqual([])
  })
  test('is as protected as any', async () => {
    last = 2
    const id = aVideo({ sets: preview(), tokenRequired: true })
    expect((await get(`${id}/v1/hls/h264_100/seg-00001.m4s`)).status).toBe(403)
    expect((await get(`${id}/v2/hls/h264_100/seg-00001.m4s`)).status).toBe(404)
  })
})

describe('a video that wants a token', () => {
  const paths = ['hls/master.m3u8', 'h264_100.mp4']
  test.each(paths)('%s: not without one, not with a forged, foreign or expired one, and with a good one', async (file) => {
    const id = aVideo({ tokenRequired: true })
    const good = await signVideoToken({ videoId: id, expires: anHour() }, tokenKeys)
    const foreign = await signVideoToken({ videoId: '1', expires: anHour() }, tokenKeys)
    const stale = await signVideoToken({ videoId: id, expires: new Date(Date.now() - 5_000) }, tokenKeys)
    const forged = await signVideoToken({ videoId: id, expires: anHour() }, parseTokenKeys(makeTokenKeys()))
    const statuses = []
    for (const version of ['v1', ...[forged, foreign, stale, `${good}x`, good].map((token) => `v1~${token}`)]) {
      const response = await get(`${id}/${version}/${file}`)
      statuses.push(response.status)
      await response.arrayBuffer()
    }
    expect(statuses).toEqual([403, 403, 403, 403, 403, 200])
  })
  test('leads from ?token= to an address whose path carries it', async () => {
    const id = aVideo({ tokenRequired: true })
    const token = await signVideoToken({ videoId: id, expires: anHour() }, tokenKeys)
    const response = await get(`${id}/v1/hls/master.m3u8?token=${token}`)
    expect([response.status, response.headers.get('location')]).toEqual([302, `/delivery/${id}/v1~${token}/hls/master.m3u8`])
    expect((await get(`${id}/v1/hls/master.m3u8?token=%22%3E`)).status).toBe(403)
  })
  test('a token for one address is refused from another', async () => {
    const id = aVideo({ tokenRequired: true })
    const token = await signVideoToken({ videoId: id, expires: anHour(), ip: '203.0.113.7' }, tokenKeys)
    const from = async (address: string) => (await get(`${id}/v1~${token}/h264_100.mp4`, { from: address })).status
    expect([await from('203.0.113.7'), await from('203.0.113.8')]).toEqual([200, 403])
  })
  test('is not cached by shared caches', async () => {
    const id = aVideo({ tokenRequired: true })
    const token = await signVideoToken({ videoId: id, expires: anHour() }, tokenKeys)
    expect((await get(`${id}/v1~${token}/h264_100.mp4`)).headers.get('cache-control')).toMatch(/^private/)
  })
})

describe('a video for some addresses', () => {
  test('a client cannot pretend to be at another address', async () => {
    const id = aVideo({ allowedIps: ['203.0.113.0/24'] })
    const from = async (chain: string) => (await get(`${id}/v1/h264_100.mp4`, { from: chain })).status
    expect([await from('203.0.113.9'), await from('198.51.100.1'), await from('203.0.113.9, 198.51.100.1')]).toEqual([200, 403, 403])
  })
})

test('a policy that changes holds within 5 s, and a protected file is then closed under its old address', async () => {
  const id = aVideo()
  const status = async () => (await get(`${id}/v1/h264_100.mp4`)).status
  expect(await status()).toBe(200)
  policies.set(id, { sets: [{ version: 'v2', prefix: 'media/1/7-1' }], tokenRequired: true })
  const began = Date.now()
  await waitFor(async () => (await status()) === 404, { timeout: 5_000, describe: 'the old address is closed' })
  expect(Date.now() - began).toBeLessThan(5_000)
})

describe('a presentation', () => {
  const both = [
    { version: 'v1', prefix: 'slides/5/8-1' },
    { version: 'v2', prefix: 'slides/5/9-2' },
  ]
  const aPresentation = (policy: Partial<GetPresentationPolicyResponse> = {}) => {
    presentationPolicies.set(String(video), { sets: both, ...policy })
    return `presentation/${video}`
  }
  const statuses = (paths: string[]) => Promise.all(paths.map(async (path) => (await get(path)).status))

  test('gives the slides of all its files, each below its own version, and its PDF', async () => {
    const path = aPresentation()
    const [first, second, pdf] = await Promise.all(
      ['v1/slide-0001.jpg', 'v2/slide-0001.jpg', 'v1/document.pdf'].map((file) => get(`${path}/${file}`)),
    )
    expect([first?.status, second?.status, pdf?.status]).toEqual([200, 200, 200])
    expect([first, second].map((answer) => answer?.headers.get('content-length'))).toEqual(['1000', '999'])
    expect([first, pdf].map((answer) => answer?.headers.get('content-type'))).toEqual(['image/jpeg', 'application/pdf'])
    expect(pdf?.headers.get('x-content-type-options')).toBe('nosniff')
    expect(pdf?.headers.get('content-security-policy')).toBe("sandbox; default-src 'none'")
    expect(pdf?.headers.get('content-disposition')).toBe('attachment')
    expect([first?.headers.get('content-security-policy'), first?.headers.get('content-disposition')]).toEqual([null, null])
  })
  test('and a video of the same id are not taken for each other', async () => {
    const path = aPresentation()
    expect(
      await statuses([`${path}/v1/slide-0001.jpg`, `${video}/v1/slide-0001.jpg`, `presentation/${aVideo()}/v3/slide-0001.jpg`]),
    ).toEqual([200, 404, 404])
  })
  test('of a video that wants a token opens to a token of that video alone', async () => {
    const path = aPresentation({ tokenRequired: true, videoId: '77' })
    const ofVideo = await signVideoToken({ videoId: '77', expires: anHour() }, tokenKeys)
    const ofItself = await signVideoToken({ videoId: String(video), expires: anHour() }, tokenKeys)
    const names = ['v1', `v1~${ofItself}`, `v1~${ofVideo}`, `v2~${ofVideo}`]
    expect(await statuses(names.map((name) => `${path}/${name}/slide-0001.jpg`))).toEqual([403, 403, 200, 200])
    const led = await get(`${path}/v1/slide-0001.jpg?token=${ofVideo}`)
    expect([led.status, led.headers.get('location')]).toEqual([302, `/delivery/${path}/v1~${ofVideo}/slide-0001.jpg`])
  })
  test('without a video opens to no token', async () => {
    const empty = await signVideoToken({ videoId: String(video), expires: anHour() }, tokenKeys)
    expect(await statuses([`${aPresentation()}/v1~${empty}/slide-0001.jpg`])).toEqual([403])
  })
  test('for some addresses is refused from others, and one that has expired is not found', async () => {
    const path = aPresentation({ allowedIps: ['203.0.113.0/24'] })
    expect((await get(`${path}/v1/slide-0001.jpg`, { from: '203.0.113.9' })).status).toBe(200)
    expect((await get(`${path}/v1/slide-0001.jpg`, { from: '198.51.100.1' })).status).toBe(403)
    video++
    expect(await statuses([`${aPresentation({ expireTime: new Date(Date.now() - 1) })}/v1/slide-0001.jpg`])).toEqual([404])
  })
})
