// Faults: B10, A14
import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { get as sendGet } from 'node:http'
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
import { type PlaybackConditions, PlaybackRule } from '@vitascope/proto/catalogue/v1/playback_rules'
import { PreviewPlaylistServiceService } from '@vitascope/proto/encoding/v1/preview_playlist'
import { makeTokenKeys, parseAddressRules, parseTokenKeys, signVideoToken } from '@vitascope/security'
import { type ObjectStorage, openFileStorage } from '@vitascope/storage'
import { createMetrics } from '@vitascope/telemetry'
import { extendTimeout, testLog, waitFor } from '@vitascope/testing'
import { buildCountryDatabase } from '@vitascope/testing/country-database'
import { testKeyFiles, testPrincipals } from '@vitascope/testing/principal-keys'
import { SignJWT } from 'jose'
import { startDelivery } from '../src/service.ts'

const tokenKeys = parseTokenKeys(makeTokenKeys())
const PLAYLIST = '#EXTM3U\nseg-1.m4s\n'
const BYTES = Buffer.from(Array.from({ length: 1_000 }, (_, i) => i % 251))

let root: string
let storage: ObjectStorage
let catalogue: GrpcServer
let encoding: GrpcServer
/** Number of the last segment of job 7. Undefined: encoding does not know the job any more. */
let lastSegment: number | undefined
const requested: string[] = []
let delivery: Awaited<ReturnType<typeof startDelivery>>
const policies = new Map<string, Partial<GetPlaybackPolicyResponse>>()
const presentationPolicies = new Map<string, Partial<GetPresentationPolicyResponse>>()
const inOneHour = () => new Date(Date.now() + 3_600_000)

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'delivery-'))
  storage = await openFileStorage({ root })
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
  const requireLast = (jobId: string) => {
    if (jobId !== '7' || lastSegment === undefined) throw new DomainError('not_found', 'PREVIEW_NOT_FOUND', 'nothing')
    return lastSegment
  }
  encoding.implement(PreviewPlaylistServiceService, {
    async getPreviewMasterPlaylist({ jobId }) {
      requireLast(jobId)
      return { text: PLAYLIST }
    },
    async getPreviewTrackPlaylist({ jobId, key: track }) {
      requested.push(track)
      const folders = [
        { first: 1, folder: 'work/7/3/h264_100' },
        { first: 2, folder: 'work/7/5/h264_100' },
      ]
      return { playlist: `#EXTM3U ${requireLast(jobId)}`, initObject: 'work/7/3/h264_100/init.mp4', segments: folders }
    },
  })
  const countryDatabaseFile = join(root, 'countries.mmdb')
  await writeFile(countryDatabaseFile, buildCountryDatabase({ '203.0.113.0/24': 'DE', '192.0.2.0/24': 'AT' }))
  delivery = await startDelivery(
    {
      listen: '127.0.0.1:0',
      metricsListen: '127.0.0.1:0',
      catalogueAddress: await catalogue.listen('127.0.0.1:0'),
      encodingAddress: await encoding.listen('127.0.0.1:0'),
      principalKeys: testKeyFiles('delivery'),
      tokenKeys,
      countryDatabaseFile,
      objects: { folder: root },
      s3Mode: 'proxy',
      storageReads: 48,
      cacheBytes: 16 * 1024 * 1024,
      publicTrustedProxies: [],
      limits: 'off',
      allowedCrawlers: [],
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
  // Each test has its own video, because policies are cached for 2 s.
  video++
  sets = [{ version: 'v1', prefix: 'media/1/7-1' }]
})

/** Returns the status of a path that is sent as it is. `fetch` would resolve dots itself. */
const getUnresolved = (path: string) =>
  new Promise<number | undefined>((resolve, reject) => {
    sendGet(`http://${delivery.address}`, { path: `/delivery/${path}` }, (response) => {
      response.resume()
      resolve(response.statusCode)
    }).on('error', reject)
  })
const get = (path: string, init: RequestInit & { from?: string } = {}) =>
  fetch(`http://${delivery.address}/delivery/${path}`, {
    ...init,
    headers: { ...init.headers, ...(init.from && { 'x-forwarded-for': init.from }) },
    redirect: 'manual',
  })
const addVideo = (policy: Partial<GetPlaybackPolicyResponse> = {}) => {
  policies.set(String(video), { sets, ...policy })
  return String(video)
}

describe('a file of a public video', () => {
  test('is returned with long caching and CORS headers', async () => {
    const response = await get(`${addVideo()}/v1/hls/master.m3u8`)
    expect([response.status, await response.text()]).toEqual([200, PLAYLIST])
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/vnd.apple.mpegurl',
      'cache-control': 'public, max-age=31536000, immutable',
      'access-control-allow-origin': '*',
      'x-content-type-options': 'nosniff',
    })
  })
  test('returns its length without a body to HEAD', async () => {
    const response = await get(`${addVideo()}/v1/h264_100.mp4`, { method: 'HEAD' })
    expect([response.status, response.headers.get('content-length'), await response.text()]).toEqual([200, '1000', ''])
  })
  test('returns 304 for its own ETag', async () => {
    const id = addVideo()
    const etag = (await get(`${id}/v1/h264_100.mp4`, { method: 'HEAD' })).headers.get('etag') ?? ''
    expect((await get(`${id}/v1/h264_100.mp4`, { headers: { 'if-none-match': etag } })).status).toBe(304)
  })
  describe.each([
    ['storage', 0],
    ['memory', 2],
  ])('from %s', (_, requestsBefore) => {
    /** Returns the path of a new object. It is in memory after two requests. */
    const newFile = async (bytes: Buffer) => {
      const file = `range-${randomUUID()}.mp4`
      await storage.put(`media/1/7-1/${file}`, bytes)
      const path = `${addVideo()}/v1/${file}`
      for (let nth = 0; nth < requestsBefore; nth++) await (await get(path)).arrayBuffer()
      return path
    }
    test.each([
      ['bytes=0-9', 206, 'bytes 0-9/1000', BYTES.subarray(0, 10)],
      ['bytes=990-', 206, 'bytes 990-999/1000', BYTES.subarray(990)],
      ['bytes=-5', 206, 'bytes 995-999/1000', BYTES.subarray(995)],
      ['bytes=900-5000', 206, 'bytes 900-999/1000', BYTES.subarray(900)],
      ['bytes=1000-', 416, 'bytes */1000', Buffer.alloc(0)],
      ['bytes=5-2', 200, null, BYTES],
      ['bytes=0-1,5-6', 200, null, BYTES],
      ['chapters=1-2', 200, null, BYTES],
    ])('responds to the range %s with %i', async (range, status, contentRange, bytes) => {
      const response = await get(await newFile(BYTES), { headers: { range } })
      expect([response.status, response.headers.get('content-range')]).toEqual([status, contentRange])
      expect(Buffer.compare(Buffer.from(await response.arrayBuffer()), bytes)).toBe(0)
    })
    test('sends objects of several read buffers, and an empty object', async () => {
      for (const bytes of [randomBytes(2.5 * 1024 * 1024), Buffer.alloc(0)]) {
        const path = await newFile(bytes)
        const [whole, head, part] = [
          await get(path),
          await get(path, { method: 'HEAD' }),
          await get(path, { headers: { range: 'bytes=1048570-2097160' } }),
        ]
        expect(Buffer.compare(Buffer.from(await whole.arrayBuffer()), bytes)).toBe(0)
        expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, String(bytes.length), ''])
        expect(part.status).toBe(bytes.length === 0 ? 416 : 206)
        expect(Buffer.compare(Buffer.from(await part.arrayBuffer()), bytes.subarray(1048570, 2097161))).toBe(0)
      }
    })
    test('is sent completely to each of many clients, some of which disconnect', async () => {
      const bytes = randomBytes(2 * 1024 * 1024)
      const path = await newFile(bytes)
      const results = await Promise.all(
        Array.from({ length: 40 }, async (_, nth) => {
          const hangUp = new AbortController()
          const response = await get(path, { signal: hangUp.signal })
          if (nth % 2 === 0) return Buffer.compare(Buffer.from(await response.arrayBuffer()), bytes)
          await response.body?.getReader().read()
          hangUp.abort()
          return 0
        }),
      )
      expect(results).toEqual(Array.from({ length: 40 }, () => 0))
    })
  })
  test.each(['v2/h264_100.mp4', 'v1/none.mp4', 'v1/../../../secret/file.txt', 'v1/%2e%2e/x', 'v1//h264_100.mp4', 'v1/h264_100.mp4/', 'v1'])(
    'responds to the path %s with 404',
    async (rest) => {
      expect(await getUnresolved(`${addVideo()}/${rest}`)).toBe(404)
    },
  )
  test('returns 405 to PUT', async () => {
    const response = await get(`${addVideo()}/v1/h264_100.mp4`, { method: 'PUT', body: 'x' })
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
  })
  test('returns 404 after the video has expired', async () => {
    expect((await get(`${addVideo({ expireTime: new Date(Date.now() - 1) })}/v1/h264_100.mp4`)).status).toBe(404)
  })
})

describe('a video that is still being encoded', () => {
  const preview = () => [{ version: 'v1', prefix: 'preview/7' }]
  test('has playlists that caches revalidate, and segments from the folder of each chunk', async () => {
    lastSegment = 2
    const id = addVideo({ sets: preview() })
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
  test('shows new segments within seconds, with one request to encoding per second', async () => {
    lastSegment = 2
    const id = addVideo({ sets: preview() })
    requested.length = 0
    const playlist = async () => (await get(`${id}/v1/hls/h264_250/index.m3u8`)).text()
    expect(await Promise.all(Array.from({ length: 20 }, playlist))).toEqual(Array(20).fill('#EXTM3U 2'))
    expect(requested).toEqual(['h264_250'])
    lastSegment = 3
    await waitFor(async () => (await playlist()) === '#EXTM3U 3')
    const tag = (await get(`${id}/v1/hls/h264_250/index.m3u8`)).headers.get('etag') ?? ''
    expect((await get(`${id}/v1/hls/h264_250/index.m3u8`, { headers: { 'if-none-match': tag } })).status).toBe(304)
  })
  test('stays available at the same address when encoding finishes', async () => {
    lastSegment = 2
    const id = addVideo({ sets: preview() })
    expect((await get(`${id}/v1/hls/h264_360/index.m3u8`)).status).toBe(200)
    lastSegment = undefined
    addVideo()
    const seen = new Set<string>()
    await waitFor(async () => {
      const response = await get(`${id}/v1/hls/h264_100/index.m3u8`)
      seen.add(`${response.status} ${await response.text()}`)
      return seen.has('200 #EXTM3U all')
    })
    expect([...seen].filter((result) => !result.startsWith('200'))).toEqual([])
  })
  test('is checked against the token and version like a finished video', async () => {
    lastSegment = 2
    const id = addVideo({ sets: preview(), tokenRequired: true })
    expect((await get(`${id}/v1/hls/h264_100/seg-00001.m4s`)).status).toBe(403)
    expect((await get(`${id}/v2/hls/h264_100/seg-00001.m4s`)).status).toBe(404)
  })
})

describe('a video that requires a token', () => {
  const paths = ['hls/master.m3u8', 'h264_100.mp4']
  test.each(paths)('returns %s for a valid token only, not without one or for a forged, foreign or expired one', async (file) => {
    const id = addVideo({ tokenRequired: true })
    const good = await signVideoToken({ videoId: id, expires: inOneHour() }, tokenKeys)
    const foreign = await signVideoToken({ videoId: '1', expires: inOneHour() }, tokenKeys)
    const expired = await signVideoToken({ videoId: id, expires: new Date(Date.now() - 5_000) }, tokenKeys)
    const forged = await signVideoToken({ videoId: id, expires: inOneHour() }, parseTokenKeys(makeTokenKeys()))
    const statuses = []
    for (const version of ['v1', ...[forged, foreign, expired, `${good}x`, good].map((token) => `v1~${token}`)]) {
      const response = await get(`${id}/${version}/${file}`)
      statuses.push(response.status)
      await response.arrayBuffer()
    }
    expect(statuses).toEqual([403, 401, 401, 401, 401, 200])
  })
  test('redirects ?token= to the address whose path contains the token', async () => {
    const id = addVideo({ tokenRequired: true })
    const token = await signVideoToken({ videoId: id, expires: inOneHour() }, tokenKeys)
    const response = await get(`${id}/v1/hls/master.m3u8?token=${token}`)
    expect([response.status, response.headers.get('location')]).toEqual([302, `/delivery/${id}/v1~${token}/hls/master.m3u8`])
    expect((await get(`${id}/v1/hls/master.m3u8?token=%22%3E`)).status).toBe(401)
  })
  test('rejects a token of another client address', async () => {
    const id = addVideo({ tokenRequired: true })
    const token = await signVideoToken({ videoId: id, expires: inOneHour(), ip: '203.0.113.7' }, tokenKeys)
    const from = async (address: string) => (await get(`${id}/v1~${token}/h264_100.mp4`, { from: address })).status
    expect([await from('203.0.113.7'), await from('203.0.113.8')]).toEqual([200, 401])
  })
  test('is not cached by shared caches', async () => {
    const id = addVideo({ tokenRequired: true })
    const token = await signVideoToken({ videoId: id, expires: inOneHour() }, tokenKeys)
    expect((await get(`${id}/v1~${token}/h264_100.mp4`)).headers.get('cache-control')).toMatch(/^private/)
  })
})

describe('a video with allowed addresses', () => {
  test('rejects a client that forges X-Forwarded-For', async () => {
    const id = addVideo({ allowedIps: ['203.0.113.0/24'] })
    const from = async (chain: string) => (await get(`${id}/v1/h264_100.mp4`, { from: chain })).status
    expect([await from('203.0.113.9'), await from('198.51.100.1'), await from('203.0.113.9, 198.51.100.1')]).toEqual([200, 403, 403])
  })
})

describe('a video with rules', () => {
  const FILES = {
    manifest: 'hls/master.m3u8',
    segment: 'hls/h264_100/seg-1.m4s',
    mp4: 'h264_100.mp4',
    image: 'images/poster.jpg',
    caption: 'captions/all.vtt',
    download: 'source.bin',
  }
  /** A condition of each kind that is true for `REQUEST`, and what makes it false. */
  const CONDITIONS: Record<string, [when: Partial<PlaybackConditions>, other: Record<string, string>]> = {
    domain: [{ domain: ['www.example.com'] }, { origin: 'https://www.example.com.evil.example' }],
    referrer: [{ referrer: ['https://www.example.com/*'] }, { referer: 'https://www.example.com@evil.example/' }],
    country: [{ country: ['DE'], unknownCountry: false }, { 'x-forwarded-for': '198.51.100.1' }],
    'unknown country': [{ country: ['DE'], unknownCountry: true }, { 'x-forwarded-for': '192.0.2.1' }],
    cidr: [{ cidr: ['203.0.113.0/24'] }, { 'x-forwarded-for': '198.51.100.1' }],
    time: [{ from: new Date('2020-01-01T00:00:00Z') }, {}],
    claim: [{ claim: [{ name: 'group', values: ['staff'] }] }, {}],
  }
  const REQUEST = { origin: 'https://www.example.com', referer: 'https://www.example.com/', 'x-forwarded-for': '203.0.113.7' }
  const buildRule = (when: Partial<PlaybackConditions>, allows = false) =>
    PlaybackRule.fromPartial({ name: 'one', when, allows, message: allows ? '' : 'not for you' })
  const request = (id: string, file: string, headers: Record<string, string> = {}) =>
    get(`${id}/v1/${file}`, { headers: { ...REQUEST, ...headers } })

  beforeAll(async () => {
    for (const file of Object.values(FILES)) await storage.put(`media/2/7-1/${file}`, Buffer.from(file))
  })
  beforeEach(() => {
    sets = [{ version: 'v1', prefix: 'media/2/7-1' }]
  })

  const cases = Object.keys(CONDITIONS).flatMap((condition) => Object.keys(FILES).map((kind) => [condition, kind] as const))
  test.each(cases)('with a condition on its %s denies each %s for which it is true, and no other', async (condition, kind) => {
    const [when, other] = CONDITIONS[condition] ?? [{}, {}]
    const isTrue = condition !== 'claim'
    const file = FILES[kind as keyof typeof FILES]
    const own = addVideo({ videoRules: [buildRule({ ...when, kind: [kind] })] })
    expect((await request(own, file)).status).toBe(isTrue ? 403 : 200)
    if (Object.keys(other).length > 0) expect((await request(own, file, other)).status).toBe(200)
    for (const [otherKind, otherFile] of Object.entries(FILES))
      if (otherKind !== kind) expect((await request(own, otherFile)).status).toBe(200)
    video++
    const allowing = addVideo({ organisationRules: [buildRule({ ...when, kind: [kind] }, true)], deniesByDefault: true })
    expect((await request(allowing, file)).status).toBe(isTrue ? 200 : 403)
  })

  test.each(Object.entries(FILES))(
    'with a condition on a claim decide about each %s by the token of the organisation',
    async (kind, file) => {
      const { publicKey, privateKey } = generateKeyPairSync('ed25519')
      const keys = [{ keyId: '3', algorithm: 'EdDSA', publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString() }]
      const rule = buildRule({ claim: [{ name: 'group', values: ['staff', 'pupils'] }], kind: [kind] }, true)
      const id = addVideo({ videoRules: [rule], deniesByDefault: true, keys })
      const status = async (claims: Record<string, unknown>) => {
        const payload = { sub: id, exp: Math.floor(Date.now() / 1_000) + 60, ...claims }
        const token = await new SignJWT(payload).setProtectedHeader({ alg: 'EdDSA', kid: '3' }).sign(privateKey)
        return (await get(`${id}/v1~${token}/${file}`)).status
      }
      expect(await status({ group: 'staff' })).toBe(200)
      expect(await status({ group: ['guests', 'pupils'] })).toBe(200)
      expect(await status({ group: 'guests' })).toBe(403)
      expect(await status({})).toBe(403)
      expect(await status({ group: 'staff', exp: 1 })).toBe(401)
      expect((await get(`${id}/v1/${file}`)).status).toBe(403)
    },
  )

  test('with a token that restricts the height gets a master playlist without higher variants, and no higher files', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const keys = [{ keyId: '3', algorithm: 'ES256', publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString() }]
    const variant = (height: number) => `#EXT-X-STREAM-INF:BANDWIDTH=1,RESOLUTION=640x${height}\nh264_${height}/index.m3u8\n`
    const prefix = 'media/2/8-1'
    await storage.put(`${prefix}/hls/master.m3u8`, Buffer.from(`#EXTM3U\n${variant(360)}${variant(720)}`))
    for (const height of [360, 720]) await storage.put(`${prefix}/hls/h264_${height}/seg-1.m4s`, Buffer.from(`${height}`))
    const id = addVideo({ sets: [{ version: 'v1', prefix }], masterPath: 'hls/master.m3u8', keys })
    const fetchUpTo = async (maxHeight: number, file: string) => {
      const payload = { sub: id, exp: Math.floor(Date.now() / 1_000) + 60, max_height: maxHeight }
      const token = await new SignJWT(payload).setProtectedHeader({ alg: 'ES256', kid: '3' }).sign(privateKey)
      const response = await get(`${id}/v1~${token}/${file}`)
      return [response.status, await response.text()]
    }
    expect(await fetchUpTo(720, 'hls/master.m3u8')).toEqual([200, `#EXTM3U\n${variant(360)}${variant(720)}`])
    expect(await fetchUpTo(719, 'hls/master.m3u8')).toEqual([200, `#EXTM3U\n${variant(360)}`])
    expect(await fetchUpTo(719, 'hls/h264_360/seg-1.m4s')).toEqual([200, '360'])
    for (const [height, file] of [
      [719, 'hls/h264_720/seg-1.m4s'],
      [359, 'hls/master.m3u8'],
      [359, 'hls/h264_360/seg-1.m4s'],
    ] as const)
      expect(await fetchUpTo(height, file)).toEqual([403, expect.stringContaining('token_wrong_height')])
  })

  test('returns a stable code and the text of the rule, and no shared cache keeps its files', async () => {
    const id = addVideo({ videoRules: [buildRule({ kind: ['segment'] })] })
    const response = await request(id, FILES.segment)
    expect([response.status, await response.json()]).toEqual([
      403,
      expect.objectContaining({ code: 'rule_refused', detail: 'not for you' }),
    ])
    expect((await request(id, FILES.mp4)).headers.get('cache-control')).toContain('private')
  })

  test('that only report changes no response, and is counted', async () => {
    const reportOnly = { ...buildRule({}), reportOnly: true }
    const response = await request(addVideo({ videoRules: [reportOnly] }), FILES.segment)
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, expect.stringContaining('public')])
  })

  test('is played by its own player page, which was only shown if the page around it may embed it', async () => {
    const id = addVideo({ videoRules: [buildRule({ domain: ['www.example.com'] }, true)], deniesByDefault: true })
    const own = { origin: `http://${delivery.address}`, referer: `http://${delivery.address}/player/1` }
    expect((await request(id, FILES.segment, own)).status).toBe(200)
    for (const origin of [
      'null',
      'https://evil.example',
      `https://${delivery.address}.evil.example`,
      `http://${delivery.address}@evil.example`,
    ])
      expect((await request(id, FILES.segment, { origin, referer: origin })).status).toBe(403)
  })
})

test('a changed policy takes effect within 5 s, and the earlier address then returns 404', async () => {
  const id = addVideo()
  const status = async () => (await get(`${id}/v1/h264_100.mp4`)).status
  expect(await status()).toBe(200)
  policies.set(id, { sets: [{ version: 'v2', prefix: 'media/1/7-1' }], tokenRequired: true })
  const began = Date.now()
  await waitFor(async () => (await status()) === 404, { timeout: 5_000, describe: 'the old address to return 404' })
  expect(Date.now() - began).toBeLessThan(extendTimeout(5_000))
})

test('a new address works as soon as the record has it, although the earlier policy is cached', async () => {
  const id = addVideo()
  const began = Date.now()
  expect((await get(`${id}/v1/h264_100.mp4`)).status).toBe(200)
  policies.set(id, { sets: [{ version: 'v2', prefix: 'media/1/7-1' }] })
  await waitFor(async () => (await get(`${id}/v2/h264_100.mp4`)).status === 200, { describe: 'the new address to return the file' })
  // The policy is cached for 2 s.
  expect(Date.now() - began).toBeLessThan(1_500)
})

describe('the picture of a video', () => {
  const poster = { jobId: '12', prefix: 'media/1/12-1' }
  beforeAll(async () => {
    await storage.put(`${poster.prefix}/poster.jpg`, Buffer.from('a picture'))
  })

  test('is served below each set', async () => {
    const id = addVideo({ poster })
    for (const { version } of sets) {
      const response = await get(`${id}/${version}/posters/12/poster.jpg`)
      expect([response.status, await response.text()]).toEqual([200, 'a picture'])
      expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    }
    expect((await get(`${id}/v1/posters/13/poster.jpg`)).status).toBe(404)
  })

  test('is served for a video without files', async () => {
    const id = addVideo({ poster, masterPath: '', sets: [{ version: 'v3', prefix: poster.prefix }] })
    expect((await get(`${id}/v3/posters/12/poster.jpg`)).status).toBe(200)
    expect((await get(`${id}/v3/hls/master.m3u8`)).status).toBe(404)
  })

  test('is served as soon as the record has it, although the earlier policy is cached', async () => {
    const id = addVideo()
    expect((await get(`${id}/v1/posters/12/poster.jpg`)).status).toBe(404)
    policies.set(id, { sets, poster })
    const began = Date.now()
    await waitFor(async () => (await get(`${id}/v1/posters/12/poster.jpg`)).status === 200, { describe: 'the picture' })
    // The policy is cached for 2 s.
    expect(Date.now() - began).toBeLessThan(1_500)
  })

  test('requires a token like the other files', async () => {
    expect((await get(`${addVideo({ poster, tokenRequired: true })}/v1/posters/12/poster.jpg`)).status).toBe(403)
  })
})

describe('a presentation', () => {
  const both = [
    { version: 'v1', prefix: 'slides/5/8-1' },
    { version: 'v2', prefix: 'slides/5/9-2' },
  ]
  const addPresentation = (policy: Partial<GetPresentationPolicyResponse> = {}) => {
    presentationPolicies.set(String(video), { sets: both, ...policy })
    return `presentation/${video}`
  }
  const statuses = (paths: string[]) => Promise.all(paths.map(async (path) => (await get(path)).status))

  test('has slides of several versions and its PDF, which is a sandboxed download', async () => {
    const path = addPresentation()
    const [first, second, pdf] = await Promise.all(
      ['v1/slide-0001.jpg', 'v2/slide-0001.jpg', 'v1/document.pdf'].map((file) => get(`${path}/${file}`)),
    )
    expect([first?.status, second?.status, pdf?.status]).toEqual([200, 200, 200])
    expect([first, second].map((result) => result?.headers.get('content-length'))).toEqual(['1000', '999'])
    expect([first, pdf].map((result) => result?.headers.get('content-type'))).toEqual(['image/jpeg', 'application/pdf'])
    expect(pdf?.headers.get('x-content-type-options')).toBe('nosniff')
    expect(pdf?.headers.get('content-security-policy')).toBe("sandbox; default-src 'none'")
    expect(pdf?.headers.get('content-disposition')).toBe('attachment')
    expect([first?.headers.get('content-security-policy'), first?.headers.get('content-disposition')]).toEqual([null, null])
  })
  test('does not share files with a video of the same id', async () => {
    const path = addPresentation()
    expect(
      await statuses([`${path}/v1/slide-0001.jpg`, `${video}/v1/slide-0001.jpg`, `presentation/${addVideo()}/v3/slide-0001.jpg`]),
    ).toEqual([200, 404, 404])
  })
  test('requires a token of its video if the video requires one', async () => {
    const path = addPresentation({ tokenRequired: true, videoId: '77' })
    const ofVideo = await signVideoToken({ videoId: '77', expires: inOneHour() }, tokenKeys)
    const ofItself = await signVideoToken({ videoId: String(video), expires: inOneHour() }, tokenKeys)
    const names = ['v1', `v1~${ofItself}`, `v1~${ofVideo}`, `v2~${ofVideo}`]
    expect(await statuses(names.map((name) => `${path}/${name}/slide-0001.jpg`))).toEqual([403, 401, 200, 200])
    const redirect = await get(`${path}/v1/slide-0001.jpg?token=${ofVideo}`)
    expect([redirect.status, redirect.headers.get('location')]).toEqual([302, `/delivery/${path}/v1~${ofVideo}/slide-0001.jpg`])
  })
  test('rejects every token if it has no video', async () => {
    const empty = await signVideoToken({ videoId: String(video), expires: inOneHour() }, tokenKeys)
    expect(await statuses([`${addPresentation()}/v1~${empty}/slide-0001.jpg`])).toEqual([401])
  })
  test('returns 403 to an address that is not allowed, and 404 after it has expired', async () => {
    const path = addPresentation({ allowedIps: ['203.0.113.0/24'] })
    expect((await get(`${path}/v1/slide-0001.jpg`, { from: '203.0.113.9' })).status).toBe(200)
    expect((await get(`${path}/v1/slide-0001.jpg`, { from: '198.51.100.1' })).status).toBe(403)
    video++
    expect(await statuses([`${addPresentation({ expireTime: new Date(Date.now() - 1) })}/v1/slide-0001.jpg`])).toEqual([404])
  })
})
