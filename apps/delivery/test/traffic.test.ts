import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { notFound } from '@vitascope/errors'
import { createGrpcServer, type GrpcServer } from '@vitascope/grpc'
import { GetPlaybackPolicyResponse, PlaybackPolicyServiceService } from '@vitascope/proto/catalogue/v1/playback_policy'
import { type PlaybackConditions, PlaybackRule } from '@vitascope/proto/catalogue/v1/playback_rules'
import { DEFAULT_LIMITS } from '@vitascope/rate-limit'
import { parseAddressRules, signVideoToken } from '@vitascope/security'
import { openFileStorage } from '@vitascope/storage'
import { createMetrics } from '@vitascope/telemetry'
import { testLog, testTokenKeys, waitFor } from '@vitascope/testing'
import { testKeyFiles, testPrincipals } from '@vitascope/testing/principal-keys'
import { startDelivery } from '../src/service.ts'

const { tokenKeys, tokenKeysFile } = testTokenKeys()
const SEGMENT = randomBytes(3_000_000)
const CRAWLER = { 'user-agent': 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)' }
const policies: Record<string, Partial<GetPlaybackPolicyResponse>> = {}

let root: string
let catalogue: GrpcServer
let delivery: Awaited<ReturnType<typeof startDelivery>>
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'delivery-'))
  const storage = await openFileStorage({ root })
  await storage.put('media/1/hls/master.m3u8', Buffer.from('#EXTM3U\n'))
  await storage.put('media/1/hls/seg-1.m4s', SEGMENT)
  catalogue = createGrpcServer({ principals: testPrincipals(), log: testLog, metrics: createMetrics('test') })
  catalogue.implement(
    { getPlaybackPolicy: PlaybackPolicyServiceService.getPlaybackPolicy },
    {
      async getPlaybackPolicy({ videoId }) {
        const policy = policies[videoId]
        if (!policy) throw notFound('video', videoId)
        const sets = [{ version: 'v1', prefix: 'media/1' }]
        return GetPlaybackPolicyResponse.fromPartial({ sets, masterPath: 'hls/master.m3u8', organisationId: '7', ...policy })
      },
    },
  )
  delivery = await startDelivery(
    {
      ...{ listen: '127.0.0.1:0', metricsListen: '127.0.0.1:0', encodingAddress: '127.0.0.1:9' },
      catalogueAddress: await catalogue.listen('127.0.0.1:0'),
      ...{ principalKeys: testKeyFiles('delivery'), tokenKeysFile, objects: { folder: root }, s3Mode: 'proxy' },
      ...{ storageReads: 8, cacheBytes: 0, outageSeconds: 600, downloads: { perAddress: 100, total: 100 } },
      limits: { ...DEFAULT_LIMITS, token_mb: 1, address_starts: 6, site_starts: 2 },
      allowedCrawlers: ['examplebot'],
      publicTrustedProxies: [],
      trustedProxies: parseAddressRules(['127.0.0.1']).rules ?? [],
    },
    testLog,
  )
})
afterAll(async () => {
  await delivery?.stop()
  await catalogue?.drain()
  await rm(root, { recursive: true })
})

let nextVideo = 100
let nextAddress = 1
/** Adds a video and returns a function that loads its files from an address of its own. */
function addVideo(policy: Partial<GetPlaybackPolicyResponse> = {}) {
  const videoId = String(nextVideo++)
  const address = `192.0.2.${nextAddress++}`
  policies[videoId] = policy
  const load = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`http://${delivery.address}/delivery/${videoId}/${path}`, {
      headers: { 'x-forwarded-for': address, 'sec-fetch-dest': 'empty', ...headers },
    })
    const body = Buffer.from(await response.arrayBuffer())
    const isProblem = response.headers.get('content-type') === 'application/problem+json'
    const code = isProblem ? (JSON.parse(body.toString()) as { code: string }).code : ''
    return { status: response.status, code, bytes: body.length, retryAfter: Number(response.headers.get('retry-after')) }
  }
  return { videoId, load }
}

test('bytes that are sent for a token use its budget, and other viewers continue', async () => {
  const { videoId, load } = addVideo({ tokenRequired: true })
  const sign = () => signVideoToken({ videoId, expires: new Date(Date.now() + 60_000) }, tokenKeys)
  const [token, other] = [await sign(), await signVideoToken({ videoId, expires: new Date(Date.now() + 120_000) }, tokenKeys)]
  const first = await load(`v1~${token}/hls/seg-1.m4s`)
  expect([first.status, first.bytes]).toEqual([200, SEGMENT.length])
  await waitFor(async () => (await load(`v1~${token}/hls/seg-1.m4s`)).status === 429, {
    describe: 'the budget of 10 s at 1 MB/s to be used',
  })
  const rejected = await load(`v1~${token}/hls/seg-1.m4s`)
  expect(rejected).toMatchObject({ status: 429, code: 'rate_limited' })
  expect(rejected.retryAfter).toBeGreaterThan(0)
  expect((await load(`v1~${other}/hls/seg-1.m4s`)).status).toBe(200)
})

test('starts of videos are limited per client address, also if the client forges X-Forwarded-For', async () => {
  const { load } = addVideo()
  for (let nth = 0; nth < 6; nth++) expect((await load('v1/hls/master.m3u8')).status).toBe(200)
  expect((await load('v1/hls/master.m3u8')).status).toBe(429)
  const { load: loadForged } = addVideo()
  const forged = (nth: number) => ({ 'x-forwarded-for': `203.0.113.${nth}, 198.51.100.77` })
  for (let nth = 0; nth < 6; nth++) expect((await loadForged('v1/hls/master.m3u8', forged(nth))).status).toBe(200)
  expect((await loadForged('v1/hls/master.m3u8', forged(9))).status).toBe(429)
})

test('a request for a missing file of a set in progress counts once', async () => {
  const { load } = addVideo({ sets: [{ version: 'v1', prefix: 'preview/7' }] })
  for (let nth = 0; nth < 6; nth++) expect((await load('v1/missing.mp4')).status).toBe(404)
  expect((await load('v1/missing.mp4')).status).toBe(429)
})

test('crawlers get the playlist and no segments, except the allowed ones', async () => {
  const { load } = addVideo()
  expect((await load('v1/hls/master.m3u8', CRAWLER)).status).toBe(200)
  expect(await load('v1/hls/seg-1.m4s', CRAWLER)).toMatchObject({ status: 403, code: 'crawler_refused' })
  expect((await load('v1/hls/seg-1.m4s', { 'user-agent': 'ExampleBot/1.0' })).status).toBe(200)
  expect((await load('v1/hls/seg-1.m4s')).status).toBe(200)
})

const anotherSite = (nth: number) => ({ referer: 'https://copies.example/page', 'x-forwarded-for': `198.51.100.${nth}` })

test('pages of another site that load a video too often are paused, unless a rule allows the site', async () => {
  const { load } = addVideo()
  for (const nth of [1, 2]) expect((await load('v1/hls/master.m3u8', anotherSite(nth))).status).toBe(200)
  expect(await load('v1/hls/master.m3u8', anotherSite(3))).toMatchObject({ status: 429, code: 'site_paused' })
  expect((await load('v1/hls/seg-1.m4s', anotherSite(4))).code).toBe('site_paused')
  expect((await load('v1/hls/master.m3u8')).status).toBe(200)
  const when = { domain: ['copies.example'] } as Partial<PlaybackConditions> as PlaybackConditions
  const rule = PlaybackRule.fromPartial({ allows: true, when })
  const allowed = addVideo({ videoRules: [rule] })
  for (const nth of [11, 12, 13]) expect((await allowed.load('v1/hls/master.m3u8', anotherSite(nth))).status).toBe(200)
})

test('after the last allowed start, further starts are rejected without a gap', async () => {
  const { load } = addVideo()
  const statuses: number[] = []
  for (let nth = 0; nth < 9; nth++) statuses.push((await load('v1/hls/master.m3u8')).status)
  expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 429, 429, 429])
})

test('a request with more than 64 ranges is rejected', async () => {
  const { load } = addVideo()
  const ranges = (count: number) => ({
    range: `bytes=${Array.from({ length: count }, (_, nth) => `${nth * 10}-${nth * 10 + 5}`).join(',')}`,
  })
  expect((await load('v1/hls/seg-1.m4s', ranges(64))).status).toBe(200)
  expect(await load('v1/hls/seg-1.m4s', ranges(65))).toMatchObject({ status: 416, code: 'too_many_ranges' })
})
