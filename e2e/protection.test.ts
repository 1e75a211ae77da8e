// Faults: A14
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import type { Api } from './support/api.ts'
import { type SourceServer, startSourceServer } from './support/source-server.ts'
import { makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, type Tenant, upload, type VideoRecord, waitUntilSettled } from './support/video-steps.ts'

let folder: string
let platform: TestPlatform
let sources: SourceServer
let tenant: Tenant
let api: Api

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sources-'))
  sources = await startSourceServer(folder)
  await makeSource(folder, 'other.mp4')
  platform = await startTestPlatform()
  tenant = await createTenant(platform.system)
  api = platform.withKey(tenant.key)
}, 120_000)
afterAll(async () => {
  await platform?.remove()
  await sources?.close()
  await rm(folder, { recursive: true, force: true })
})

async function uploadPlayableVideo(): Promise<VideoRecord> {
  const { id } = await upload(api, tenant.organisationId, `${sources.url}/other.mp4`)
  const video = await waitUntilSettled(api, id)
  expect(video.status.status).toBe('ok')
  return video
}

/** Returns every URL that a record and its playlists reference. */
async function crawl(uri: VideoRecord['uri']): Promise<string[]> {
  const stills = [uri.poster_frame, uri.thumbnail, ...Object.values(uri.all_thumbnails)]
  const sprites = (await (await fetch(uri.storyboard)).text()).match(/storyboard-\d+\.jpg/g) ?? []
  expect(sprites.length).toBeGreaterThan(0)
  const urls = new Set([...stills, ...Object.values(uri.http), uri.audio, uri.storyboard])
  for (const sprite of sprites) urls.add(new URL(sprite, uri.storyboard).href)
  const playlists = [uri.hls]
  for (const playlist of playlists) {
    urls.add(playlist)
    const text = await (await fetch(playlist)).text()
    const names = [...text.matchAll(/URI="([^"]+)"/g)]
      .map(([, name]) => name ?? '')
      .concat(text.split('\n').filter((line) => /^[^#\s]/.test(line)))
    for (const name of names) {
      const url = new URL(name, playlist).href
      if (url.endsWith('.m3u8') && !playlists.includes(url)) playlists.push(url)
      urls.add(url)
    }
  }
  return [...urls]
}

const statuses = (urls: readonly string[]) =>
  Promise.all(urls.map(async (url) => (await fetch(url, { method: 'HEAD', redirect: 'manual' })).status))
const served = async (urls: readonly string[]) => (await statuses(urls)).filter((status) => status === 200).length
const record = async (id: string, by: Api = api) => (await by.get<VideoRecord>(`/video/${id}`)).body
const withToken = (url: string, token: string) => url.replace(/(\/delivery\/\d+\/[^/]+)\//, `$1~${token}/`)
const waitUntilRejected = (urls: readonly string[]) =>
  waitFor(async () => (await served(urls)) === 0, { timeout: 5_000, interval: 100, describe: 'every old URL to return an error' })

test('a video that requires a token delivers its files only with a valid token', async () => {
  const [video, otherVideo] = [await uploadPlayableVideo(), await uploadPlayableVideo()]
  const open = await crawl(video.uri)
  expect(open.length).toBeGreaterThan(30)
  expect(await served(open)).toBe(open.length)

  expect((await api.patch(`/video/${video.video_id}`, { security: { token_required_platform: true } })).status).toBe(200)
  await waitUntilRejected(open)
  const now = (await record(video.video_id, platform.guest)).uri
  const base = open.map((url) => url.replace(/\/delivery\/\d+\/[^/]+\//, now.hls.match(/\/delivery\/\d+\/[^/]+\//)?.[0] ?? ''))
  await waitFor(async () => (await statuses(base.slice(0, 1)))[0] === 403, { timeout: 5_000, describe: 'the new version to apply' })
  expect(await served(base)).toBe(0)

  const token = (await api.post<{ token: string }>(`/video/${video.video_id}/token`, { expires_in: 600 })).body.token
  const foreign = (await api.post<{ token: string }>(`/video/${otherVideo.video_id}/token`, { expires_in: 600 })).body.token
  const brief = (await api.post<{ token: string }>(`/video/${video.video_id}/token`, { expires_in: 1 })).body.token
  const tokenOfOtherAddress = (await api.post<{ token: string }>(`/video/${video.video_id}/token`, { expires_in: 600, ip: '203.0.113.9' }))
    .body.token
  expect(await served(base.map((url) => withToken(url, token)))).toBe(base.length)
  const redirected = await fetch(`${base[0]}?token=${token}`, { method: 'HEAD' })
  expect(redirected.status).toBe(200)
  expect(await served(base.map((url) => withToken(url, foreign)))).toBe(0)
  expect(await served(base.map((url) => withToken(url, tokenOfOtherAddress)))).toBe(0)
  await waitFor(async () => (await served(base.slice(0, 1).map((url) => withToken(url, brief)))) === 0, {
    timeout: 5_000,
    describe: 'the short token to expire',
  })

  const [head = '', rest = ''] = [token.slice(0, token.indexOf('.') + 1), token.slice(token.indexOf('.') + 1)]
  const forged = Array.from({ length: 500 }, (_, n) => {
    const at = n % rest.length
    const flipped = rest[at] === 'A' ? 'B' : 'A'
    return `${head}${rest.slice(0, at)}${rest[at] === '.' ? '-' : flipped}${rest.slice(at + 1)}`
  })
  expect(await served(forged.map((one) => withToken(base[0] ?? '', one)))).toBe(0)
}, 120_000)

test('a video with allowed addresses is not delivered to others', async () => {
  const video = await uploadPlayableVideo()
  const open = await crawl(video.uri)
  await api.patch(`/video/${video.video_id}`, { security: { allowed_ips: ['203.0.113.0/24'] } })
  await waitUntilRejected(open)
  const foreignRecord = await record(video.video_id, platform.guest)
  expect(foreignRecord['security']).toEqual({ token_required_platform: false, is_ip_restricted: true })
  expect(await served([foreignRecord.uri.hls, foreignRecord.uri.poster_frame, ...Object.values(foreignRecord.uri.http)])).toBe(0)
  // The `X-Forwarded-For` of a client is ignored.
  const pretending = await fetch(foreignRecord.uri.hls, { headers: { 'x-forwarded-for': '203.0.113.9' } })
  expect(pretending.status).not.toBe(200)

  await api.patch(`/video/${video.video_id}`, { security: { allowed_ips: ['127.0.0.0/8', '::1'] } })
  await waitFor(async () => (await served([(await record(video.video_id)).uri.hls])) === 1, {
    timeout: 5_000,
    describe: 'this machine to be allowed',
  })
}, 60_000)

test.each([
  ['disabled', (id: string) => api.patch(`/video/${id}`, { enabled: '0' })],
  [
    'expired',
    (id: string) => api.patch(`/video/${id}`, { content_expiry: { time: '2020-01-01 00:00:00', message: 'It was here until 2020' } }),
  ],
  ['deleted', async (id: string) => api.delete(`/media?media_id=${(await record(id)).media_id}`)],
])(
  'a video that is %s is no longer delivered after 5 s, and guests get 404',
  async (_, change) => {
    const video = await uploadPlayableVideo()
    const open = [video.uri.hls, video.uri.poster_frame, ...Object.values(video.uri.http)]
    expect((await change(video.video_id)).status).toBe(200)
    await waitUntilRejected(open)
    expect((await platform.guest.get(`/video/${video.video_id}`)).status).toBe(404)
  },
  60_000,
)

test('the keys and videos of an inactive organisation are rejected', async () => {
  const video = await uploadPlayableVideo()
  await platform.system.put(`/organisation/${tenant.organisationId}`, { status: 'inactive' })
  await waitFor(async () => (await api.get('/video')).status === 403, { timeout: 5_000, describe: 'its key to be rejected' })
  await waitFor(async () => (await platform.guest.get(`/video/${video.video_id}`)).status === 404, {
    timeout: 5_000,
    describe: 'its video to be hidden',
  })
  await waitUntilRejected([video.uri.hls])
  await platform.system.put(`/organisation/${tenant.organisationId}`, { status: 'active' })
  await waitFor(async () => (await api.get('/video')).status === 200, { timeout: 5_000, describe: 'its key to work again' })
}, 60_000)

test('guests see an unlisted video by its URL only, and a private video not at all', async () => {
  const video = await uploadPlayableVideo()
  const path = `/video/${video.video_id}`
  const { body: playlist } = await api.post<{ playlist_id: string }>(`/playlist/create/${tenant.organisationId}`, { title: 'All' })
  expect((await api.put(`/playlist/${playlist.playlist_id}`, { videos: [video.video_id] })).status).toBe(200)
  const look = async () => {
    const listed = await platform.guest.get<{ videos: unknown[] }>(`/playlist/${playlist.playlist_id}`)
    const feed = await api.get<string>(`/playlist/rss/${playlist.playlist_id}`)
    const page = await fetch(`${platform.url}/player/${video.video_id}`)
    return {
      visibility: (await record(video.video_id))['visibility'],
      record: (await platform.guest.get(path)).status,
      embed: (await platform.guest.get(`/embed/${video.video_id}/iframe`)).status,
      page: page.status,
      isHiddenFromSearchEngines: (await page.text()).includes('<meta name="robots" content="noindex" />'),
      inPlaylist: listed.body.videos.length,
      inFeed: feed.body.includes(video.video_id),
    }
  }
  const isListed = { isHiddenFromSearchEngines: false, inPlaylist: 1, inFeed: true }
  const found = { record: 200, embed: 200, page: 200 }
  expect(await look()).toEqual({ visibility: 'public', ...found, ...isListed })

  expect((await api.patch(path, { visibility: 'unlisted' })).status).toBe(200)
  const isUnlisted = { isHiddenFromSearchEngines: true, inPlaylist: 0, inFeed: false }
  await waitFor(async () => (await look()).inFeed === false, { describe: 'the feed to change' })
  expect(await look()).toEqual({ visibility: 'unlisted', ...found, ...isUnlisted })
  expect(await served([video.uri.hls])).toBe(1)

  expect((await api.patch(path, { visibility: 'private' })).status).toBe(200)
  await waitUntilRejected([video.uri.hls])
  await waitFor(async () => (await look()).page === 404, { timeout: 5_000, describe: 'the page to disappear' })
  const isPrivate = { ...isUnlisted, isHiddenFromSearchEngines: false, record: 404, embed: 404, page: 404 }
  expect(await look()).toEqual({ visibility: 'private', ...isPrivate })
  const own = (await record(video.video_id)).uri.hls
  const { token } = (await api.post<{ token: string }>(`${path}/token`, { expires_in: 600 })).body
  await waitFor(async () => (await statuses([own]))[0] === 403, { timeout: 5_000, describe: 'a token to be required' })
  expect(await statuses([own, withToken(own, token)])).toEqual([403, 200])
  // The token also shows the record and the page. Tokens for another video or for one address do not.
  const lookWith = async (value: string) => {
    const page = await fetch(`${platform.url}/player/${video.video_id}?token=${value}`)
    return [(await platform.guest.get(`${path}?player_settings=true&token=${value}`)).status, page.status]
  }
  const other = await uploadPlayableVideo()
  const createToken = async (id: string, ip = '') =>
    (await api.post<{ token: string }>(`/video/${id}/token`, { expires_in: 600, ip })).body.token
  expect(await lookWith(token)).toEqual([200, 200])
  const wrong = [await createToken(other.video_id), await createToken(video.video_id, '192.0.2.7'), `${token.slice(0, -1)}_`, 'x']
  for (const value of wrong) expect((await lookWith(value))[0]).toBe(404)
  expect((await platform.guest.get(path)).status).toBe(404)
  const { body: shown } = await platform.guest.get(`${path}?token=${token}`)
  expect(shown).not.toHaveProperty('description_private')

  expect((await api.patch(path, { visibility: 'public' })).status).toBe(200)
  await waitFor(async () => (await look()).page === 200, { timeout: 5_000, describe: 'the page to appear again' })
  expect(await look()).toEqual({ visibility: 'public', ...found, ...isListed })
}, 60_000)
