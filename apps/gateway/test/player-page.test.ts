import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { DomainError, notFound } from '@vitascope/errors'
import { createGrpcServer, type GrpcServer, type Handlers } from '@vitascope/grpc'
import { Playlist, PlaylistServiceService } from '@vitascope/proto/catalogue/v1/playlist'
import { Setting, SettingServiceService } from '@vitascope/proto/catalogue/v1/setting'
import { Video, VideoServiceService } from '@vitascope/proto/catalogue/v1/video'
import { createMetrics } from '@vitascope/telemetry'
import { testLog, waitFor } from '@vitascope/testing'
import { startTestGateway, testPrincipalKey } from './started-gateway.ts'

const webDir = mkdtempSync(join(tmpdir(), 'vitascope-player-page-'))
let catalogue: GrpcServer
let gateway: Awaited<ReturnType<typeof startTestGateway>>
let alone: Awaited<ReturnType<typeof startTestGateway>>

/** 42 is open, 43 has a password, 44 is past its time, 77 is a playlist of 43. */
const aVideo = (videoId: string) =>
  Video.create({ videoId, title: `Video ${videoId}`, deliveryVersion: 'v1', renditions: { posterPath: 'poster.jpg' } })
const uploadHtml = '<!doctype html><html><head><title>Upload</title></head><body></body></html>'

beforeAll(async () => {
  writeFileSync(join(webDir, 'upload.html'), uploadHtml)
  writeFileSync(join(webDir, 'index.html'), '<!doctype html><html><head><title>Video</title></head><body></body></html>')
  catalogue = createGrpcServer({ principalKey: testPrincipalKey, log: testLog, metrics: createMetrics('player-page-test') })
  const found = {
    async findPublicVideo({ videoId }: { videoId: string }) {
      if (videoId === '44') throw new DomainError('not_found', 'VIDEO_EXPIRED', 'The "sale" is over.')
      if (videoId === '45') throw new DomainError('unavailable', 'OVERLOADED', 'try again')
      if (!['42', '43'].includes(videoId)) throw notFound('video', videoId)
      return { video: aVideo(videoId) }
    },
  }
  const listed = {
    async findPublicPlaylist({ playlistId }: { playlistId: string }) {
      if (playlistId !== '77') throw notFound('playlist', playlistId)
      return { playlist: Playlist.create({ playlistId, title: 'Launches' }), videos: [aVideo('43')], nextSkip: 0 }
    },
  }
  const kept = {
    async findVideoSetting({ videoId }: { videoId: string }) {
      return { setting: Setting.create({ passwordProtected: videoId === '43' }) }
    },
  }
  catalogue.implement(VideoServiceService, found as unknown as Handlers<typeof VideoServiceService>)
  catalogue.implement(PlaylistServiceService, listed as unknown as Handlers<typeof PlaylistServiceService>)
  catalogue.implement(SettingServiceService, kept as unknown as Handlers<typeof SettingServiceService>)
  gateway = await startTestGateway([], { webDir, catalogueAddress: await catalogue.listen('127.0.0.1:0') })
  alone = await startTestGateway([], { webDir })
})
/** A page is not kept waiting for a slow catalogue: until it has answered, it stands as it is built. */
async function pageOf(id: string, method = 'GET') {
  let page = { status: 0, type: '', html: '' }
  const ask = async () => {
    const response = await fetch(`${gateway.url}/player/${id}`, { method })
    page = { status: response.status, type: response.headers.get('content-type') ?? '', html: await response.text() }
    return method === 'HEAD' || page.html.includes('vitascope:')
  }
  await waitFor(ask, { timeout: 20_000, describe: 'a page that the catalogue was asked for' })
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
  'the page of %s is answered %i',
  async (id, status, part, shows) => {
    const { html, ...head } = await pageOf(id)
    expect(head).toEqual({ status, type: 'text/html; charset=utf-8' })
    expect(html).toContain(part)
    expect(html).toContain(`<meta name="vitascope:shows" content="${shows}" />`)
    expect((await pageOf(id, 'HEAD')).html).toBe('')
  },
  30_000,
)

test('the upload page stands by itself, and in no frame, since keys are typed into it', async () => {
  const page = await fetch(`${gateway.url}/upload`)
  expect([page.status, await page.text()]).toEqual([200, uploadHtml])
  expect(page.headers.get('content-security-policy')).toMatch(/script-src 'self';.*frame-ancestors 'none'/)
  expect((await fetch(`${gateway.url}/upload`, { method: 'POST' })).status).toBe(405)
  rmSync(join(webDir, 'upload.html'))
  const missing = await fetch(`${gateway.url}/upload`)
  expect([missing.status, /npm run generate/.test(await missing.text())]).toEqual([404, true])
})

test('a catalogue that cannot say leaves the page to ask for itself', async () => {
  for (const url of [`${gateway.url}/player/45`, `${alone.url}/player/42`]) {
    const response = await fetch(url)
    expect([response.status, /vitascope:/.test(await response.text())]).toEqual([200, false])
  }
})

test('a video that has a password shows no picture to other sites, nor does a playlist that begins with it', async () => {
  const pictures = async (id: string) =>
    ((await (await fetch(`${gateway.url}/player/${id}`)).text()).match(/(og|twitter):image/g) ?? []).length
  expect([await pictures('42'), await pictures('43'), await pictures('77')]).toEqual([2, 0, 0])
}, 60_000)

test('a page tells its player to tell of everybody only where the platform is set up so', async () => {
  const all = '<meta name="vitascope:events" content="all" />'
  const everybody = await startTestGateway([], { webDir, doNotTrack: 'ignore' })
  const pageFrom = async (url: string) => (await fetch(`${url}/player/42`)).text()
  expect(await pageFrom(everybody.url)).toContain(all)
  expect(await pageFrom(alone.url)).not.toContain(all)
  await everybody.stop()
})
