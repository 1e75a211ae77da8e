import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { browserArguments, browserPath, isLongRun, waitFor } from '@vitascope/testing'
import { type Browser, chromium } from 'playwright-core'
import { type SourceServer, startSourceServer } from './support/source-server.ts'
import { ffprobe, makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, type Tenant, upload, type VideoRecord, waitUntilSettled } from './support/video-steps.ts'

const SCREENSHOTS = process.env['VITASCOPE_SCREENSHOTS']
/** Ten minutes in long tests. */
const [SOURCE, SECONDS] = isLongRun ? (['ten-minutes.mp4', 600] as const) : (['long.mp4', 75] as const)
/** Time in which a busy machine encodes all of it. */
const TIMEOUT_MS = SECONDS * 2_000
const browserFile = browserPath()
const testInBrowser = browserFile === undefined ? test.skip : test

let folder: string
let platform: TestPlatform
let sources: SourceServer
let tenant: Tenant
let browser: Browser | undefined
/** Video that is watched by requests and in the browser during one encode. */
let watchedId: string
let playback: Promise<void> | undefined

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sources-'))
  sources = await startSourceServer(folder)
  await makeSource(folder, SOURCE)
  platform = await startTestPlatform()
  tenant = await createTenant(platform.system)
  browser = browserFile === undefined ? undefined : await chromium.launch({ executablePath: browserFile, args: [...browserArguments] })
  watchedId = (await start()).id
  playback = browser && watchInBrowser(browser, watchedId)
  // The test in a browser awaits the promise and reports its failure.
  playback?.catch(() => {})
}, 120_000)
afterAll(async () => {
  await browser?.close()
  await platform?.remove()
  await sources?.close()
  await rm(folder, { recursive: true, force: true })
})

const start = () => upload(platform.withKey(tenant.key), tenant.organisationId, `${sources.url}/${SOURCE}`)
const record = async (id: string) => (await platform.guest.get<VideoRecord>(`/video/${id}`)).body
/** Returns the first record of the video with something to play. */
async function playable(id: string): Promise<VideoRecord> {
  let video: VideoRecord | undefined
  await waitFor(
    async () => {
      video = await record(id)
      return video.uri.hls !== ''
    },
    { timeout: 60_000, describe: 'the video to be playable' },
  )
  if (!video) throw new Error('the playable state was not observed')
  return video
}
const text = async (url: string) => {
  const response = await fetch(url)
  expect([url, response.status]).toEqual([url, 200])
  return response.text()
}
const bytes = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer())
const listSegments = (playlist: string) => playlist.split('\n').filter((line) => /^seg-\d+\.m4s$/.test(line))
const sumSeconds = (playlist: string) => [...playlist.matchAll(/#EXTINF:([\d.]+)/g)].reduce((sum, [, seconds]) => sum + Number(seconds), 0)

test(
  'the beginning plays during the encode under stable URLs without failed requests',
  async () => {
    const id = watchedId
    const video = await playable(id)
    expect(video.status).toMatchObject({ status: 'encoding', code: 2 })
    expect([video.uri.http, Number(video.duration)]).toEqual([{}, SECONDS])

    const viewed = await sendView(id)

    const master = await text(video.uri.hls)
    const tracks = [...master.matchAll(/(?:URI="|^)([a-z0-9_]+\/index\.m3u8)/gm)].map(([, path]) => new URL(path ?? '', video.uri.hls).href)
    expect(tracks.length).toBeGreaterThan(6)
    const previewed = new Map<string, Buffer>()
    for (const url of tracks) {
      const playlist = await text(url)
      expect(playlist).toContain('#EXT-X-PLAYLIST-TYPE:EVENT')
      expect(playlist).toContain('#EXT-X-TARGETDURATION:4\n')
      expect(playlist).not.toContain('#EXT-X-ENDLIST')
      const [first = ''] = listSegments(playlist)
      const init = new URL('init.mp4', url).href
      const segment = new URL(first, url).href
      for (const one of [init, segment]) previewed.set(one, await bytes(one))
      const file = join(folder, 'beginning.mp4')
      await writeFile(file, Buffer.concat([previewed.get(init) ?? Buffer.alloc(0), previewed.get(segment) ?? Buffer.alloc(0)]))
      const { packets = [] } = await ffprobe(['-show_packets', file])
      expect([url, packets.length > 50]).toEqual([url, true])
    }
    expect((await record(id)).status.status).toBe('encoding')

    // A player requests the playlist repeatedly and finds more segments each time.
    const [watched = ''] = tracks.filter((url) => url.includes('h264_1200'))
    let seconds = 0
    let grown = 0
    await waitFor(
      async () => {
        const playlist = await text(watched)
        const now = sumSeconds(playlist)
        expect(now).toBeGreaterThanOrEqual(seconds)
        if (now > seconds) grown++
        seconds = now
        return playlist.includes('#EXT-X-ENDLIST')
      },
      { timeout: TIMEOUT_MS, describe: 'the playlist to be complete' },
    )
    expect(Math.abs(seconds - SECONDS)).toBeLessThan(0.2)
    expect(grown).toBeGreaterThan(3)
    const after = await waitUntilSettled(platform.guest, id, 120_000)
    expect(after.uri.hls).toBe(video.uri.hls)
    await waitFor(async () => (await text(watched)).includes('#EXT-X-PLAYLIST-TYPE:VOD'))
    for (const [url, before] of previewed) expect([url, (await bytes(url)).equals(before)]).toEqual([url, true])
    await viewed()
  },
  2 * TIMEOUT_MS,
)

/**
 * Sends a view of the whole video during the encode. The returned function checks how it counts.
 */
async function sendView(videoId: string): Promise<() => Promise<void>> {
  const view = { video_id: videoId, view_id: randomUUID(), at: Date.now() }
  const events = [
    { ...view, type: 'load' },
    { ...view, type: 'ended', position: SECONDS, watched: [[0, SECONDS]] },
  ]
  const { status, body } = await platform.guest.post('/analytics/events', events, { 'user-agent': 'Mozilla/5.0 Firefox/128.0' })
  expect([status, body]).toEqual([202, { accepted: 2, rejected: [] }])
  return async () => {
    await waitFor(
      async () => {
        const path = `/analytics/duration-viewed/${tenant.organisationId}/video/${videoId}`
        const report = (await platform.withKey(tenant.key).get<Record<string, unknown>>(path)).body
        if (report['player_loads'] !== 1) return false
        expect(report).toMatchObject({ video_duration: SECONDS, video_plays: 1, complete_views: 1, average_percentage_viewed: 100 })
        return true
      },
      { timeout: 30_000, describe: 'the view to be counted' },
    )
  }
}

testInBrowser('the player plays the preview from its first second', () => playback, 2 * TIMEOUT_MS)

test('a cancelled or deleted preview is no longer delivered', async () => {
  const { id, job_id } = await start()
  const video = await playable(id)
  expect((await platform.withKey(tenant.key).delete(`/job/${job_id}`)).status).toBe(202)
  expect(await record(id)).toMatchObject({ status: { status: 'failed', code: 4005 }, uri: { hls: '' } })
  await waitFor(async () => (await fetch(video.uri.hls)).status === 404, { timeout: 20_000 })
}, 120_000)

/** Plays the video in the player page during its encode, until the encode is complete. */
async function watchInBrowser(player: Browser, id: string): Promise<void> {
  const page = await player.newPage({ viewport: { width: 1280, height: 800 } })
  // The viewer opposes tracking, so that the platform counts only the view that `sendView` sends.
  await page.addInitScript(`Object.defineProperty(navigator, 'globalPrivacyControl', { value: true })`)
  await page.goto(`${platform.url}/player/${id}?autoplay=1&muted=1`)
  const readCurrentTime = () => page.locator('video').evaluate((video: { currentTime: number }) => video.currentTime)
  await waitFor(async () => (await readCurrentTime()) > 1, { timeout: 90_000, describe: 'the picture to move' })
  expect((await record(id)).status.status).toBe('encoding')
  expect(await readCurrentTime()).toBeLessThan(20)
  await waitFor(async () => /Encoding: \d+ %/.test((await page.locator('.badge').textContent()) ?? ''), { timeout: 20_000 })
  if (SCREENSHOTS !== undefined) {
    await mkdir(SCREENSHOTS, { recursive: true })
    await page.screenshot({ path: join(SCREENSHOTS, 'preview-playback.png') })
  }
  const seen = await readCurrentTime()
  await waitUntilSettled(platform.guest, id, TIMEOUT_MS)
  // Playback did not restart when the encode was complete.
  await waitFor(async () => (await page.locator('.badge').isHidden()) && (await readCurrentTime()) > seen, { timeout: 30_000 })
}
