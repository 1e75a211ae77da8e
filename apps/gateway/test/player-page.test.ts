import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { DomainError, notFound } from '@vitascope/errors'
import { createGrpcServer, type GrpcServer, type Handlers } from '@vitascope/grpc'
import { PlaybackRulesServiceService } from '@vitascope/proto/catalogue/v1/playback_rules'
import { Playlist, PlaylistServiceService } from '@vitascope/proto/catalogue/v1/playlist'
import { Setting, SettingServiceService } from '@vitascope/proto/catalogue/v1/setting'
import { Video, VideoServiceService } from '@vitascope/proto/catalogue/v1/video'
import { DEFAULT_LIMITS } from '@vitascope/rate-limit'
import { createMetrics } from '@vitascope/telemetry'
import { extendTimeout, testLog, waitFor } from '@vitascope/testing'
import { testPrincipals } from '@vitascope/testing/principal-keys'
import { startTestGateway } from './started-gateway.ts'

const webDir = mkdtempSync(join(tmpdir(), 'vitascope-player-page-'))
let catalogue: GrpcServer
let catalogueAddress: string
let gateway: Awaited<ReturnType<typeof startTestGateway>>
let alone: Awaited<ReturnType<typeof startTestGateway>>

/**
 * 42 is public, 43 has a password, 44 has expired, 46 requires a token, 47 is restricted to addresses, 48 is unlisted, 77
 * is a playlist of 43.
 */
const buildVideo = (videoId: string) =>
  Video.fromPartial({
    ...{ videoId, title: `Video ${videoId}`, deliveryVersion: 'v1', createTime: new Date('2030-01-02T03:04:05Z') },
    renditions: { posterPath: 'poster.jpg', hlsPath: 'master.m3u8', durationSeconds: 61 },
    ...{ tokenRequired: videoId === '46', ipRestricted: videoId === '47', visibility: videoId === '48' ? 'unlisted' : 'public' },
  })
const uploadHtml = '<!doctype html><html><head><title>Upload</title></head><body></body></html>'

/** Ids that were requested from the catalogue, and those that became public. */
const requested: string[] = []
/** Tokens of the requests that rules decided. */
const decidedTokens: string[] = []
const published = new Set<string>()

beforeAll(async () => {
  writeFileSync(join(webDir, 'upload.html'), uploadHtml)
  writeFileSync(join(webDir, 'index.html'), '<!doctype html><html><head><title>Video</title></head><body></body></html>')
  catalogue = createGrpcServer({ principals: testPrincipals(), log: testLog, metrics: createMetrics('player-page-test') })
  const videoHandlers = {
    async findPublicVideo({ videoId }: { videoId: string }) {
      requested.push(videoId)
      if (published.has(videoId)) return { video: buildVideo(videoId) }
      if (videoId === '44') throw new DomainError('not_found', 'VIDEO_EXPIRED', 'The "sale" is over.')
      if (videoId === '45') throw new DomainError('unavailable', 'OVERLOADED', 'try again')
      if (!['42', '43', '46', '47', '48'].includes(videoId)) throw notFound('video', videoId)
      return { video: buildVideo(videoId) }
    },
  }
  const listed = {
    async findPublicPlaylist({ playlistId }: { playlistId: string }) {
      if (playlistId !== '77') throw notFound('playlist', playlistId)
      return { playlist: Playlist.create({ playlistId, title: 'Launches' }), videos: [buildVideo('43')], nextSkip: 0 }
    },
  }
  const settingHandlers = {
    async findVideoSetting({ videoId }: { videoId: string }) {
      return { setting: Setting.create({ passwordProtected: videoId === '43' }) }
    },
  }
  const { decidePage, decidePlaylistPage } = PlaybackRulesServiceService
  catalogue.implement(
    { decidePage, decidePlaylistPage },
    {
      async decidePage({ referrer, token }) {
        decidedTokens.push(token)
        return { allowed: !referrer.includes('evil'), message: 'Not on this page.', frameAncestors: `'self' news.example` }
      },
      async decidePlaylistPage({ referrer }) {
        return { allowed: !referrer.includes('evil'), message: 'No list here.', frameAncestors: `'self' list.example` }
      },
    },
  )
  catalogue.implement(VideoServiceService, videoHandlers as unknown as Handlers<typeof VideoServiceService>)
  catalogue.implement(PlaylistServiceService, listed as unknown as Handlers<typeof PlaylistServiceService>)
  catalogue.implement(SettingServiceService, settingHandlers as unknown as Handlers<typeof SettingServiceService>)
  catalogueAddress = await catalogue.listen('127.0.0.1:0')
  gateway = await startTestGateway([], { docsDir: webDir, webDir, catalogueAddress })
  alone = await startTestGateway([], { webDir })
})
/**
 * A slow catalogue does not delay a page: it is sent as built until the catalogue has responded.
 */
async function fetchPage(id: string, method = 'GET') {
  let page = { status: 0, type: '', html: '' }
  const call = async () => {
    const response = await fetch(`${gateway.url}/player/${id}`, { method })
    page = { status: response.status, type: response.headers.get('content-type') ?? '', html: await response.text() }
    return method === 'HEAD' || page.html.includes('vitascope:')
  }
  await waitFor(call, { timeout: 20_000, describe: 'a page with a look-up in the catalogue' })
  return page
}
afterAll(async () => {
  await gateway?.stop()
  await alone?.stop()
  await catalogue?.drain(100)
  rmSync(webDir, { recursive: true })
})

test.each([
  ['42', 200, '<title>Video 42</title>', 'video'],
  ['43', 200, '<title>Video 43</title>', 'video'],
  ['77', 200, '<title>Launches</title>', 'playlist'],
  ['44', 404, '<meta name="vitascope:expired" content="The &quot;sale&quot; is over." />', 'none'],
  ['41', 404, '<title>Not available</title>', 'none'],
  ['launch', 404, '<title>Not available</title>', 'none'],
])(
  'the page of %s returns %i',
  async (id, status, part, shows) => {
    const { html, ...head } = await fetchPage(id)
    expect(head).toEqual({ status, type: 'text/html; charset=utf-8' })
    expect(html).toContain(part)
    expect(html).toContain(`<meta name="vitascope:shows" content="${shows}" />`)
    expect((await fetchPage(id, 'HEAD')).html).toBe('')
  },
  30_000,
)

test('the page of a playlist is shown where the rules of its videos allow it', async () => {
  const fetchFrom = (referer: string) => fetch(`${gateway.url}/player/77`, { headers: { referer } })
  const [allowed, denied] = [await fetchFrom('https://news.example/'), await fetchFrom('https://evil.example/')]
  expect([allowed.status, allowed.headers.get('content-security-policy')]).toEqual([
    200,
    expect.stringContaining(`frame-ancestors 'self' list.example`),
  ])
  expect([denied.status, await denied.text()]).toEqual([403, expect.stringContaining('content="No list here."')])
})

test('a page that the rules of the video do not allow shows a message instead of the video', async () => {
  const fetchFrom = (referer: string) => fetch(`${gateway.url}/player/42`, { headers: { referer } })
  const [allowed, denied] = [await fetchFrom('https://news.example/'), await fetchFrom('https://evil.example/')]
  expect([allowed.status, allowed.headers.get('content-security-policy')]).toEqual([
    200,
    expect.stringContaining(`frame-ancestors 'self' news.example`),
  ])
  const html = await denied.text()
  expect([denied.status, html]).toEqual([403, expect.stringContaining('<meta name="vitascope:denied" content="Not on this page." />')])
  expect(html).not.toContain('og:title')
})

test('a player page that loads another video is decided by the page that embeds it', async () => {
  const fetchFrom = (embedder: string) =>
    fetch(`${gateway.url}/player/42`, { headers: { referer: gateway.url, 'x-vitascope-embedder': embedder } })
  expect([(await fetchFrom('https://news.example/')).status, (await fetchFrom('https://evil.example/')).status]).toEqual([200, 403])
})

test('the rules of a video decide with the token in the URL of its page', async () => {
  decidedTokens.length = 0
  for (const query of ['?token=head.body.tag&autoplay=1', '', `?token=${'x'.repeat(2_049)}`])
    await fetch(`${gateway.url}/player/42${query}`)
  expect(decidedTokens).toEqual(['head.body.tag', '', ''])
})

test('only the page of a video that everyone may watch has data for search engines', async () => {
  const hasData = async (id: string) => (await fetchPage(id)).html.includes('<script type="application/ld+json">')
  const ids = ['42', '43', '44', '46', '47', '48', '77', '41']
  expect(await Promise.all(ids.map(hasData))).toEqual(ids.map((id) => id === '42'))
  const { html } = await fetchPage('42')
  expect(html).toContain(`"contentUrl":"${gateway.url}/delivery/42/v1/master.m3u8"`)
  expect(html).toContain('"uploadDate":"2030-01-02T03:04:05.000Z","duration":"PT1M1S"')
}, 60_000)

test('a page links to its oEmbed documents unless viewers need a token or a password', async () => {
  const countLinks = async (id: string) => ((await fetchPage(id)).html.match(/\+oembed"/g) ?? []).length
  const ids = ['42', '43', '46', '47', '48', '77', '41']
  expect(await Promise.all(ids.map(countLinks))).toEqual([2, 0, 0, 2, 2, 2, 0])
}, 60_000)

test('pages send only their origin as Referer, and no permission for camera, microphone or location', async () => {
  for (const path of ['/player/42?token=secret', '/upload', '/docs']) {
    const { headers } = await fetch(`${gateway.url}${path}`)
    expect([path, headers.get('referrer-policy')]).toEqual([path, 'strict-origin'])
    const permissions = headers.get('permissions-policy') ?? ''
    expect(permissions).toMatch(/camera=\(\).*geolocation=\(\).*microphone=\(\)/)
    // An embedded player keeps what its frame grants.
    expect(permissions).not.toMatch(/autoplay|fullscreen|picture-in-picture|encrypted-media/)
    expect(headers.get('strict-transport-security')).toBeNull()
  }
})

test('a platform with an https address sends Strict-Transport-Security', async () => {
  const secure = await startTestGateway([], { webDir, publicUrl: 'https://video.example.org' })
  try {
    for (const path of ['/player/42', '/upload', '/docs', '/v2/nothing', '/healthz', '/openapi.json']) {
      const { headers } = await fetch(`${secure.url}${path}`)
      expect([path, headers.get('strict-transport-security')]).toEqual([path, 'max-age=31536000'])
    }
  } finally {
    await secure.stop()
  }
})

test('the upload page cannot be framed, because keys are typed into it', async () => {
  const page = await fetch(`${gateway.url}/upload`)
  expect([page.status, await page.text()]).toEqual([200, uploadHtml])
  expect(page.headers.get('content-security-policy')).toMatch(/script-src 'self';.*frame-ancestors 'none'/)
  expect((await fetch(`${gateway.url}/upload`, { method: 'POST' })).status).toBe(405)
  rmSync(join(webDir, 'upload.html'))
  const missing = await fetch(`${gateway.url}/upload`)
  expect([missing.status, /npm run generate/.test(await missing.text())]).toEqual([404, true])
})

test('if the catalogue is unavailable, the page is sent without facts', async () => {
  for (const url of [`${gateway.url}/player/45`, `${alone.url}/player/42`]) {
    const response = await fetch(url)
    expect([response.status, /vitascope:/.test(await response.text())]).toEqual([200, false])
  }
})

test('a video with a password has no share image, nor has a playlist that starts with it', async () => {
  const pictures = async (id: string) =>
    ((await (await fetch(`${gateway.url}/player/${id}`)).text()).match(/(og|twitter):image/g) ?? []).length
  expect([await pictures('42'), await pictures('43'), await pictures('77')]).toEqual([2, 0, 0])
}, 60_000)

test('a page enables tracking of all viewers only where the platform is configured for it', async () => {
  const all = '<meta name="vitascope:events" content="all" />'
  const trackingGateway = await startTestGateway([], { webDir, doNotTrack: 'ignore' })
  const pageFrom = async (url: string) => (await fetch(`${url}/player/42`)).text()
  expect(await pageFrom(trackingGateway.url)).toContain(all)
  expect(await pageFrom(alone.url)).not.toContain(all)
  await trackingGateway.stop()
})

test('an unknown id is looked up once for concurrent requests, and is found within 5 s of publishing', async () => {
  requested.length = 0
  const get = async () => (await fetch(`${gateway.url}/player/700`)).status
  expect(await Promise.all(Array.from({ length: 20 }, get))).toEqual(Array(20).fill(404))
  expect(requested.filter((id) => id === '700').length).toBeLessThanOrEqual(2)
  published.add('700')
  const started = performance.now()
  await waitFor(async () => (await get()) === 200, { timeout: 20_000, describe: 'the video to be found' })
  expect(performance.now() - started).toBeLessThan(extendTimeout(5_000))
})

test('an address that requests many unknown ids still gets pages, with a limited number of look-ups', async () => {
  const limits = { ...DEFAULT_LIMITS, unknown: 1, burst: 60 }
  const bounded = await startTestGateway([], { webDir, catalogueAddress, limits })
  requested.length = 0
  const statuses = new Set<number>()
  for (let nth = 0; nth < 300; nth++) statuses.add((await fetch(`${bounded.url}/player/80${nth}`)).status)
  await bounded.stop()
  expect(statuses).toEqual(new Set([404, 200]))
  expect(requested.length).toBeLessThanOrEqual(60)
})

test('with a session, the page of an unknown video lets its script find out, but not that of an expired one', async () => {
  const read = async (id: string) => {
    const response = await fetch(`${gateway.url}/player/${id}`, { headers: { cookie: 'vitascope-session=any' } })
    return [response.status, (await response.text()).includes('vitascope:shows')]
  }
  expect(await read('41')).toEqual([200, false])
  expect(await read('44')).toEqual([404, true])
})
