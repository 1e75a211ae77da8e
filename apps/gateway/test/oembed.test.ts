import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { DomainError, notFound } from '@vitascope/errors'
import { createGrpcServer, type GrpcServer, type Handlers } from '@vitascope/grpc'
import { PlaybackRulesServiceService } from '@vitascope/proto/catalogue/v1/playback_rules'
import { Playlist, PlaylistServiceService } from '@vitascope/proto/catalogue/v1/playlist'
import { PosterState } from '@vitascope/proto/catalogue/v1/poster'
import { RenditionSet } from '@vitascope/proto/catalogue/v1/rendition'
import { Setting, SettingServiceService } from '@vitascope/proto/catalogue/v1/setting'
import { Video, VideoServiceService } from '@vitascope/proto/catalogue/v1/video'
import { DEFAULT_LIMITS } from '@vitascope/rate-limit'
import { createMetrics } from '@vitascope/telemetry'
import { testLog, waitFor } from '@vitascope/testing'
import { testPrincipals } from '@vitascope/testing/principal-keys'
import { startTestGateway } from './started-gateway.ts'

const PUBLIC_URL = 'https://video.example.org'

/** Videos that guests may see. 43 has a password, and rules deny the page of 49. */
const videos: Readonly<Record<string, Partial<Video>>> = {
  '42': {},
  '43': {},
  '46': { tokenRequired: true },
  '47': { ipRestricted: true },
  '48': { visibility: 'unlisted' },
  '49': {},
  '50': { renditions: undefined, deliveryVersion: '' },
  '51': {
    poster: {
      ...{ state: PosterState.POSTER_STATE_OK, code: 0, reason: '' },
      poster: { path: 'posters/7/poster.jpg', width: 720, height: 900 },
      thumbnail: { path: 'posters/7/thumbnail.jpg', width: 240, height: 300 },
    },
  },
}

function buildVideo(videoId: string): Video {
  const files = { posterPath: 'poster.jpg', thumbnailPath: 'thumbnail.jpg', hlsPath: 'master.m3u8' }
  return Video.fromPartial({
    ...{ videoId, title: `Video ${videoId}`, deliveryVersion: 'v1', visibility: 'public', createTime: new Date('2030-01-02T03:04:05Z') },
    renditions: RenditionSet.fromPartial({ width: 1920, height: 1080, durationSeconds: 61, ...files }),
    ...videos[videoId],
  })
}

let catalogue: GrpcServer
let catalogueAddress: string
let gateway: Awaited<ReturnType<typeof startTestGateway>>
const requested: string[] = []

beforeAll(async () => {
  catalogue = createGrpcServer({ principals: testPrincipals(), log: testLog, metrics: createMetrics('oembed-test') })
  const videoHandlers = {
    async findPublicVideo({ videoId }: { videoId: string }) {
      requested.push(videoId)
      if (videoId === '44') throw new DomainError('not_found', 'VIDEO_EXPIRED', 'The sale is over.')
      if (videoId === '45') throw new DomainError('unavailable', 'OVERLOADED', 'try again')
      // A private video is not found either.
      if (!(videoId in videos)) throw notFound('video', videoId)
      return { video: buildVideo(videoId) }
    },
  }
  const playlistHandlers = {
    async findPublicPlaylist({ playlistId }: { playlistId: string }) {
      if (playlistId !== '77') throw notFound('playlist', playlistId)
      return { playlist: Playlist.create({ playlistId, title: 'Launches' }), videos: [buildVideo('42')], nextSkip: 0 }
    },
  }
  const settingHandlers = {
    async findVideoSetting({ videoId }: { videoId: string }) {
      return { setting: Setting.create({ passwordProtected: videoId === '43' }) }
    },
  }
  const { decidePage } = PlaybackRulesServiceService
  catalogue.implement(
    { decidePage },
    {
      async decidePage({ videoId }) {
        return { allowed: videoId !== '49', message: 'Not here.', frameAncestors: '*' }
      },
    },
  )
  catalogue.implement(VideoServiceService, videoHandlers as unknown as Handlers<typeof VideoServiceService>)
  catalogue.implement(PlaylistServiceService, playlistHandlers as unknown as Handlers<typeof PlaylistServiceService>)
  catalogue.implement(SettingServiceService, settingHandlers as unknown as Handlers<typeof SettingServiceService>)
  catalogueAddress = await catalogue.listen('127.0.0.1:0')
  gateway = await startTestGateway([], { catalogueAddress, publicUrl: PUBLIC_URL })
  await waitFor(async () => (await get({ url: `${PUBLIC_URL}/player/42` })).status === 200, {
    timeout: 20_000,
    describe: 'the gateway to reach the catalogue',
  })
})
afterAll(async () => {
  await gateway?.stop()
  await catalogue?.drain(100)
})

async function get(query: Record<string, string> | string, init: RequestInit = {}, url = gateway.url) {
  const response = await fetch(`${url}/oembed?${new URLSearchParams(query)}`, { redirect: 'manual', ...init })
  const text = await response.text()
  const isJson = /json/.test(response.headers.get('content-type') ?? '')
  return { status: response.status, headers: response.headers, text, body: isJson && text !== '' ? JSON.parse(text) : {} }
}
const ofVideo = (id: string, query: Record<string, string> = {}) => get({ url: `${PUBLIC_URL}/player/${id}`, ...query })

test('the document of a public video has its title, size, thumbnail and embed code', async () => {
  const { status, headers, body } = await ofVideo('42', { maxwidth: '640' })
  expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8'])
  expect(body).toEqual({
    ...{ version: '1.0', type: 'video', title: 'Video 42', provider_name: 'Vitascope', provider_url: PUBLIC_URL, cache_age: 3_600 },
    ...{ thumbnail_url: `${PUBLIC_URL}/delivery/42/v1/thumbnail.jpg`, thumbnail_width: 426, thumbnail_height: 240 },
    ...{ width: 640, height: 360, html: expect.stringContaining(`<iframe src="${PUBLIC_URL}/player/42" title="Video 42" width="640"`) },
  })
  const { body: large } = await ofVideo('42')
  expect(large).toMatchObject({ width: 1920, height: 1080, thumbnail_width: 1280, thumbnail_height: 720 })
  expect(large.thumbnail_url).toBe(`${PUBLIC_URL}/delivery/42/v1/poster.jpg`)
})

test('a picture that was set is the thumbnail, with its own size', async () => {
  const thumbnail = { thumbnail_url: `${PUBLIC_URL}/delivery/51/v1/posters/7/poster.jpg`, thumbnail_width: 720, thumbnail_height: 900 }
  expect((await ofVideo('51')).body).toMatchObject({ width: 1920, height: 1080, ...thumbnail })
})

test('the document is also XML, which every origin may read for a short time', async () => {
  const { status, headers, text } = await ofVideo('42', { format: 'xml' })
  expect([status, headers.get('content-type')]).toEqual([200, 'text/xml; charset=utf-8'])
  expect(text).toMatch(/^<\?xml version="1.0" encoding="UTF-8"\?>\n<oembed><version>1.0<\/version><type>video<\/type>/)
  expect([headers.get('access-control-allow-origin'), headers.get('cache-control')]).toEqual(['*', 'private, max-age=60'])
  expect(headers.get('content-length')).toBe(String(Buffer.byteLength(text)))
})

test('HEAD returns the headers only, OPTIONS the verbs, and POST is not allowed', async () => {
  const url = { url: `${PUBLIC_URL}/player/42` }
  expect(await get(url, { method: 'HEAD' })).toMatchObject({ status: 200, text: '' })
  const { status, headers } = await get(url, { method: 'OPTIONS' })
  expect([status, headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS'])
  expect(await get(url, { method: 'POST' })).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } })
})

test.each([
  ['46', 'requires a token'],
  ['43', 'has a password'],
  ['49', 'is denied by playback rules'],
])('video %s, which %s, is 401 without any data', async (id) => {
  for (const query of [{}, { url: `${PUBLIC_URL}/player/${id}?token=a.b` }]) {
    const { status, headers, text, body } = await ofVideo(id, query)
    expect([status, body.code, headers.get('cache-control')]).toEqual([401, 'video_protected', 'no-store'])
    expect(text).not.toContain(`Video ${id}`)
    expect(headers.get('access-control-allow-origin')).toBe('*')
  }
})

test.each([
  ['41', 'video_not_found'],
  ['44', 'video_expired'],
])('video %s is 404 %s', async (id, code) => {
  expect(await ofVideo(id)).toMatchObject({ status: 404, body: { code } })
})

test('the URL of another host or page is 404', async () => {
  for (const url of ['https://evil.example/player/42', `${PUBLIC_URL}/upload`, `${gateway.url}/upload`]) {
    expect(await get({ url })).toMatchObject({ status: 404, body: { code: 'not_found' } })
  }
})

test('the URL may have the host of the request instead of the public one', async () => {
  expect(await get({ url: `${gateway.url}/player/42` })).toMatchObject({
    status: 200,
    body: { title: 'Video 42', provider_url: PUBLIC_URL },
  })
})

test('every bad parameter is in the problem document, and an unknown format is 501', async () => {
  const { status, headers, body } = await get({ maxwidth: '0', maxheight: 'x' })
  expect([status, headers.get('content-type')]).toEqual([400, 'application/problem+json'])
  expect(body).toMatchObject({ code: 'invalid_input', instance: '/oembed' })
  expect(body.errors.map(({ field }: { field: string }) => field)).toEqual(['maxwidth', 'maxheight', 'url'])
  expect(await get('url=%zz')).toMatchObject({ status: 400, body: { errors: [{ field: 'url' }] } })
  expect(await ofVideo('42', { format: 'csv' })).toMatchObject({ status: 501, body: { code: 'format_unsupported' } })
})

test('an unlisted video and a playlist have a document', async () => {
  expect((await ofVideo('48')).body).toMatchObject({ title: 'Video 48', thumbnail_width: 1280 })
  expect((await ofVideo('77')).body).toMatchObject({
    title: 'Launches',
    thumbnail_width: 1280,
    html: expect.stringContaining('/player/77'),
  })
})

test('a video that only some addresses may watch, or that is not encoded, has no thumbnail', async () => {
  for (const id of ['47', '50']) {
    const { status, body } = await ofVideo(id)
    expect([status, body.title, Object.keys(body).filter((name) => name.startsWith('thumbnail'))]).toEqual([200, `Video ${id}`, []])
  }
  expect((await ofVideo('50')).body).toMatchObject({ width: 640, height: 360 })
})

test('if the catalogue is unavailable, the response is 503 and can be repeated', async () => {
  const { status, headers, body } = await ofVideo('45')
  expect([status, body.code, headers.get('retry-after')]).toEqual([503, 'service_unavailable', '1'])
})

test('an address that requests many unknown ids is rejected without look-ups', async () => {
  const limits = { ...DEFAULT_LIMITS, unknown: 1, burst: 20 }
  const bounded = await startTestGateway([], { catalogueAddress, publicUrl: PUBLIC_URL, limits })
  const send = (id: string) => get({ url: `${PUBLIC_URL}/player/${id}` }, {}, bounded.url)
  try {
    await waitFor(async () => (await send('42')).status === 200, { timeout: 20_000, describe: 'the gateway to reach the catalogue' })
    requested.length = 0
    const statuses: number[] = []
    for (let nth = 0; nth < 60; nth++) statuses.push((await send(`90${nth}`)).status)
    expect(new Set(statuses)).toEqual(new Set([404, 429]))
    expect(requested.length).toBeLessThanOrEqual(20)
    expect(await send('999')).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
  } finally {
    await bounded.stop()
  }
})

test('the address of a poster redirects to the poster of a video that everyone may watch', async () => {
  const fetchPoster = (id: string) => fetch(`${gateway.url}/player/${id}/poster.jpg`, { redirect: 'manual' })
  for (const [id, video] of [
    ['42', '42'],
    ['48', '48'],
    ['77', '42'],
  ]) {
    const { status, headers } = await fetchPoster(`${id}`)
    expect([status, headers.get('location')]).toEqual([302, `${PUBLIC_URL}/delivery/${video}/v1/poster.jpg`])
    expect([headers.get('cache-control'), headers.get('cross-origin-resource-policy')]).toEqual(['public, max-age=60', 'cross-origin'])
  }
  for (const id of ['41', '43', '44', '46', '47', '50', 'embed.js']) {
    const { status, headers } = await fetchPoster(id)
    expect([id, status, headers.get('cache-control')]).toEqual([id, 404, 'no-store'])
  }
  expect((await fetchPoster('45')).status).toBe(503)
})
