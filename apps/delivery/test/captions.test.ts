import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { notFound } from '@vitascope/errors'
import { createGrpcServer, type GrpcServer } from '@vitascope/grpc'
import { Caption, CaptionLine, CaptionServiceService } from '@vitascope/proto/catalogue/v1/caption'
import { DeliveryCaption, GetPlaybackPolicyResponse, PlaybackPolicyServiceService } from '@vitascope/proto/catalogue/v1/playback_policy'
import { signVideoToken } from '@vitascope/security'
import { openFileStorage } from '@vitascope/storage'
import { createMetrics } from '@vitascope/telemetry'
import { testLog, testTokenKeys, waitFor } from '@vitascope/testing'
import { testKeyFiles, testPrincipals } from '@vitascope/testing/principal-keys'
import { fromBufferPromise } from 'yauzl'
import { startDelivery } from '../src/service.ts'

const { tokenKeys, tokenKeysFile } = testTokenKeys()
const EMPTY = 'WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:0,LOCAL:00:00:00.000\n'
const MASTER = '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nb/index.m3u8\n'
const sets = [
  { version: 'v1', prefix: 'media/1/7-1' },
  { version: 'v0', prefix: 'media/1/6-1' },
]

let root: string
let catalogue: GrpcServer
let delivery: Awaited<ReturnType<typeof startDelivery>>
const policies = new Map<string, Partial<GetPlaybackPolicyResponse>>()
const lines = new Map<string, string[]>()
const requested: string[] = []

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'delivery-'))
  const storage = await openFileStorage({ root })
  for (const { prefix } of sets) await storage.put(`${prefix}/hls/master.m3u8`, Buffer.from(MASTER))
  catalogue = createGrpcServer({ principals: testPrincipals(), log: testLog, metrics: createMetrics('test') })
  catalogue.implement(
    { getPlaybackPolicy: PlaybackPolicyServiceService.getPlaybackPolicy },
    {
      async getPlaybackPolicy({ videoId }) {
        const policy = policies.get(videoId)
        if (!policy) throw notFound('video', videoId)
        return GetPlaybackPolicyResponse.fromPartial({ sets, masterPath: 'hls/master.m3u8', durationSeconds: 12.48, ...policy })
      },
    },
  )
  catalogue.implement(CaptionServiceService, {
    createCaption: () => Promise.reject(new Error('not implemented in this test')),
    updateCaption: () => Promise.reject(new Error('not implemented in this test')),
    deleteCaption: () => Promise.reject(new Error('not implemented in this test')),
    async *readCaption({ captionId }) {
      requested.push(captionId)
      const texts = lines.get(captionId)
      if (!texts) throw notFound('caption', captionId)
      yield { caption: Caption.fromPartial({ captionId }), lines: [] }
      for (const [i, text] of texts.entries()) {
        yield { caption: undefined, lines: [CaptionLine.fromPartial({ beginMs: i * 1_000, endMs: i * 1_000 + 500, text })] }
      }
    },
  })
  delivery = await startDelivery(
    {
      listen: '127.0.0.1:0',
      metricsListen: '127.0.0.1:0',
      catalogueAddress: await catalogue.listen('127.0.0.1:0'),
      encodingAddress: '127.0.0.1:9',
      principalKeys: testKeyFiles('delivery'),
      tokenKeysFile,
      objects: { folder: root },
      s3Mode: 'proxy',
      storageReads: 48,
      cacheBytes: 1024 * 1024,
      publicTrustedProxies: [],
      limits: 'off',
      allowedCrawlers: [],
      outageSeconds: 600,
      downloads: { perAddress: 256, total: 4_096 },
      trustedProxies: [],
    },
    testLog,
  )
})
afterAll(async () => {
  await delivery.stop()
  await catalogue.drain()
  await rm(root, { recursive: true })
})

let video = 100
let caption = 10
beforeEach(() => {
  video++
  caption++
  lines.set(String(caption), ['Good <i>evening</i>', 'a --> b'])
})

const get = (path: string, init: RequestInit = {}) =>
  fetch(`http://${delivery.address}/delivery/${video}/${path}`, { ...init, redirect: 'manual' })
const track = (more: Partial<DeliveryCaption> = {}) =>
  DeliveryCaption.fromPartial({ captionId: String(caption), name: 'English', language: 'en', ...more })
const addVideo = (policy: Partial<GetPlaybackPolicyResponse> = { captions: [track()] }) => policies.set(String(video), policy)
const captionFiles = () => ['hls/master.m3u8', `hls/captions/${caption}.m3u8`, `hls/captions/${caption}.vtt`]

describe('captions of a public video', () => {
  test('are in the master playlist of the current and the earlier version, which references their text', async () => {
    addVideo()
    for (const version of ['v1', 'v0']) {
      const master = await get(`${version}/hls/master.m3u8`)
      expect([master.status, master.headers.get('content-type')]).toEqual([200, 'application/vnd.apple.mpegurl'])
      const uri = /TYPE=SUBTITLES.*URI="([^"]+)"/.exec(await master.text())?.[1]
      const playlist = await get(`${version}/hls/${uri}`)
      const name = (await playlist.text()).split('\n').find((line) => line.endsWith('.vtt'))
      const text = await get(`${version}/hls/captions/${name}`)
      expect([text.status, text.headers.get('content-type')]).toEqual([200, 'text/vtt; charset=utf-8'])
      expect(await text.text()).toBe(
        'WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:0,LOCAL:00:00:00.000\n\n00:00:00.000 --> 00:00:00.500\nGood <i>evening</i>\n\n' +
          '00:00:01.000 --> 00:00:01.500\na --&gt; b\n',
      )
    }
    expect(requested.filter((id) => id === String(caption))).toHaveLength(1)
  })
  test('are revalidated by caches on every use', async () => {
    addVideo()
    for (const file of captionFiles()) {
      const response = await get(`v1/${file}`, { method: 'HEAD' })
      expect([file, response.status, response.headers.get('cache-control')]).toEqual([file, 200, 'public, max-age=0, must-revalidate'])
      expect([Number(response.headers.get('content-length')) > 30, await response.text()]).toEqual([true, ''])
      const etag = response.headers.get('etag') ?? ''
      expect((await get(`v1/${file}`, { headers: { 'if-none-match': `W/${etag}` } })).status).toBe(304)
    }
  })
  test('are added, changed and removed within 5 s', async () => {
    addVideo({ captions: [] })
    const master = async () => (await get('v1/hls/master.m3u8')).text()
    const text = async () => (await get(`v1/hls/captions/${caption}.vtt`)).text()
    expect(await master()).toBe(MASTER)
    expect(await text()).toBe(EMPTY)
    addVideo()
    await waitFor(async () => (await master()).includes('NAME="English"'), { timeout: 5_000, describe: 'the captions to be added' })
    expect(await text()).toContain('evening')
    lines.set(String(caption), ['other'])
    addVideo({ captions: [track({ revision: 1, showsOnLoad: true })] })
    await waitFor(async () => (await text()).includes('other'), { timeout: 5_000, describe: 'the changed lines' })
    expect(await master()).toContain('DEFAULT=YES')
    addVideo({ captions: [] })
    await waitFor(async () => (await master()) === MASTER, { timeout: 5_000, describe: 'the captions to be removed' })
    expect(await text()).toBe(EMPTY)
  })
  test('are empty, not missing, if they were deleted or belong to another video', async () => {
    addVideo({ captions: [track({ captionId: '999' })] })
    for (const id of [caption, 999]) {
      const [playlist, text] = await Promise.all([get(`v1/hls/captions/${id}.m3u8`), get(`v1/hls/captions/${id}.vtt`)])
      expect([playlist.status, text.status, await text.text()]).toEqual([200, 200, EMPTY])
      expect(await playlist.text()).toContain(`\n${id}.vtt\n`)
    }
  })
})

describe('a download of all captions', () => {
  const sign = (path: string) =>
    signVideoToken({ videoId: String(video), expires: new Date(Date.now() + 60_000), download: { path, name: 'A film.zip' } }, tokenKeys)
  const readArchive = async (response: Response): Promise<Record<string, string>> => {
    const zip = await fromBufferPromise(Buffer.from(await response.arrayBuffer()))
    const files: Record<string, string> = {}
    for await (const entry of zip.eachEntry()) files[entry.fileName] = await text(await zip.openReadStreamPromise(entry))
    return files
  }

  test('is a ZIP file with the text of each track', async () => {
    lines.set('8001', ['Guten Abend'])
    lines.set('8002', ['Guten Morgen'])
    const tracks = [
      track(),
      track({ captionId: '8001', language: 'de', name: 'a' }),
      track({ captionId: '8002', language: 'de', name: 'b' }),
    ]
    addVideo({ captions: tracks, tokenRequired: true })
    const token = await sign('hls/captions.zip')
    const response = await get(`v1~${token}/download/captions.zip`)
    expect([response.status, response.headers.get('content-type'), response.headers.get('content-disposition')]).toEqual([
      200,
      'application/zip',
      'attachment; filename="A film.zip"',
    ])
    const files = await readArchive(response)
    expect(Object.keys(files)).toEqual(['en.vtt', 'de-8001.vtt', 'de-8002.vtt'])
    expect([files['en.vtt'], files['de-8002.vtt']]).toEqual([expect.stringContaining('evening'), expect.stringContaining('Guten Morgen')])
    expect(files['en.vtt']).toMatch(/^WEBVTT\n\n00:00/)
    const single = await get(`v1~${await sign(`hls/captions/${caption}.vtt`)}/download/${caption}.vtt`)
    expect(await single.text()).toBe(files['en.vtt'])
    // Without such a token there is no archive.
    expect((await get('v1/hls/captions.zip')).status).toBe(403)
  })
})

describe('all caption files of a video', () => {
  const statuses = (version: string) => Promise.all(captionFiles().map(async (file) => (await get(`${version}/${file}`)).status))
  test('return 403 without a token, and 401 for a foreign one, if the video requires one', async () => {
    addVideo({ captions: [track()], tokenRequired: true })
    const token = await signVideoToken({ videoId: String(video), expires: new Date(Date.now() + 60_000) }, tokenKeys)
    const foreign = await signVideoToken({ videoId: '1', expires: new Date(Date.now() + 60_000) }, tokenKeys)
    expect(await statuses('v1')).toEqual([403, 403, 403])
    expect(await statuses(`v1~${foreign}`)).toEqual([401, 401, 401])
    expect(await statuses(`v1~${token}`)).toEqual([200, 200, 200])
    expect((await get(`v1~${token}/hls/captions/${caption}.vtt`)).headers.get('cache-control')).toBe('private, max-age=0, must-revalidate')
    expect((await get(`v1/hls/captions/${caption}.vtt?token=${token}`)).headers.get('location')).toBe(
      `/delivery/${video}/v1~${token}/hls/captions/${caption}.vtt`,
    )
  })
  test('return 403 if the client address is not allowed', async () => {
    addVideo({ captions: [track()], allowedIps: ['203.0.113.0/24'] })
    expect(await statuses('v1')).toEqual([403, 403, 403])
  })
  test('return 404 if the video is unknown or expired, or the version is not current', async () => {
    expect(await statuses('v1')).toEqual([404, 404, 404])
    video++
    addVideo({ captions: [track()], expireTime: new Date(Date.now() - 1) })
    expect(await statuses('v1')).toEqual([404, 404, 404])
    video++
    addVideo()
    expect(await statuses('v2')).toEqual([404, 404, 404])
  })
})
