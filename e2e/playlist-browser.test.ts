import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { browserArguments, browserPath, extendTimeout, waitFor } from '@vitascope/testing'
import { type Browser, chromium, type Page } from 'playwright-core'
import type { Api } from './support/api.ts'
import { type SourceServer, startSourceServer } from './support/source-server.ts'
import { makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, upload, waitUntilSettled } from './support/video-steps.ts'

const browserFile = browserPath()
const SCREENSHOTS = process.env['VITASCOPE_SCREENSHOTS']
const describeInBrowser = browserFile === undefined ? describe.skip : describe

const TITLES = [
  'Lift-off',
  'Stage separation',
  'A title that is so long that it does not fit into two lines of the list: landing',
  'Splashdown',
]
/** Title of a disabled video, which the page as a guest cannot see. */
const HIDDEN = 'Not for everybody'

let folder: string
let platform: TestPlatform
let sources: SourceServer
let api: Api
let browser: Browser
let page: Page
let playlistId: string
const pageErrors: string[] = []

describeInBrowser('a playlist in a browser', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sources-'))
    sources = await startSourceServer(folder)
    await makeSource(folder, 'small.mp4')
    platform = await startTestPlatform()
    const tenant = await createTenant(platform.system)
    api = platform.withKey(tenant.key)
    const { id } = await upload(api, tenant.organisationId, `${sources.url}/small.mp4`, { name: TITLES[0] })
    const { media_id } = await waitUntilSettled(api, id)
    const videos = [id]
    for (const video_title of [...TITLES.slice(1), HIDDEN]) {
      const { body } = await api.post<{ video_id: string }>(`/media/${media_id}/publish`)
      await api.patch(`/video/${body.video_id}`, { video_title, enabled: video_title !== HIDDEN })
      videos.push(body.video_id)
    }
    const created = await api.post<{ playlist_id: string }>(`/playlist/create/${tenant.organisationId}`, {
      title: 'Flight of the test card',
    })
    playlistId = created.body.playlist_id
    expect((await api.put(`/playlist/${playlistId}`, { videos })).status).toBe(200)
    browser = await chromium.launch({ executablePath: browserFile ?? '', args: [...browserArguments] })
  }, 150_000)
  afterAll(async () => {
    await browser?.close()
    await platform?.remove()
    await sources?.close()
    await rm(folder, { recursive: true, force: true })
  })
  beforeEach(async () => {
    for (const context of browser.contexts()) await context.close()
    page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage()
    pageErrors.length = 0
    // The page requests the id once as a video, and the browser logs the 404.
    page.on('console', (message) => message.type() === 'error' && !/404/.test(message.text()) && pageErrors.push(message.text()))
    page.on('pageerror', (error) => pageErrors.push(error.message))
  })

  const change = async (fields: Record<string, unknown>) => expect((await api.put(`/playlist/${playlistId}`, fields)).status).toBe(200)
  const open = async (query = '?autoplay=1&muted=1') => {
    await page.goto(`${platform.url}/player/${playlistId}${query}`)
    await page
      .locator('.entry')
      .first()
      .waitFor({ state: 'attached', timeout: extendTimeout(20_000) })
  }
  const titles = () => page.locator('.entry .name').allTextContents()
  const current = () => page.locator('.entry[aria-current] .name').textContent()
  const status = () => page.locator('.bar [role=status]').textContent()
  const position = () => page.locator('video').evaluate((video: { currentTime: number }) => video.currentTime)
  const runs = async (title: string) => {
    let seen: unknown[] = []
    const check = async () => {
      seen = [await current(), await page.title(), await position()]
      return seen[0] === title && seen[1] === title && Number(seen[2]) > 0.3
    }
    await waitFor(check, { timeout: 30_000, describe: () => `"${title}" to play: ${JSON.stringify(seen)}` })
  }
  const toTheEnd = () =>
    page.locator('video').evaluate((video: { currentTime: number; duration: number }) => {
      video.currentTime = video.duration - 0.4
    })
  const screenshot = async (name: string) => {
    if (SCREENSHOTS === undefined) return
    await mkdir(SCREENSHOTS, { recursive: true })
    await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) })
  }

  test('plays its videos in order in one player, without console errors or requests to other hosts', async () => {
    await change({ open_in_playlist_view: 1, randomise: 0, video_limit: 0 })
    const hosts = new Set<string>()
    page.on('request', (request) => hosts.add(new URL(request.url()).host))
    await open()
    expect(await titles()).toEqual(TITLES)
    const video = await page.locator('video').elementHandle()
    for (const [index, title] of TITLES.entries()) {
      await runs(title)
      expect(await status()).toBe(`${index + 1} of 4: ${title}`)
      if (index === 1) await screenshot('playlist')
      await toTheEnd()
    }
    await waitFor(() => page.locator('video').evaluate((element: { ended: boolean }) => element.ended), { describe: 'the end of the last' })
    expect(await current()).toBe(TITLES.at(-1))
    // The video element is reused, so it keeps its volume, full screen and permission to play.
    expect(await video?.evaluate((element: { isConnected: boolean }) => element.isConnected)).toBe(true)
    const thumbnails = page.locator('.entry img')
    expect(await thumbnails.count()).toBe(4)
    expect(await thumbnails.evaluateAll((all: { naturalWidth: number }[]) => all.every(({ naturalWidth }) => naturalWidth > 0))).toBe(true)
    expect([...hosts].filter((host) => host !== '')).toEqual([new URL(platform.url).host])
    expect(pageErrors).toEqual([])
  }, 120_000)

  test('is controlled by keys and buttons, and waits for one without autoplay', async () => {
    await change({ open_in_playlist_view: 1, randomise: 0, video_limit: 0 })
    await open('')
    expect(await current()).toBe(TITLES[0])
    await page.locator('.start').waitFor()
    expect(await position()).toBe(0)
    await page.keyboard.press('Shift+N')
    await runs(TITLES[1] ?? '')
    await page.keyboard.press('Shift+P')
    await runs(TITLES[0] ?? '')
    // The first video has no previous one.
    expect(await page.getByRole('button', { name: 'Previous video' }).getAttribute('aria-disabled')).toBe('true')
    await page.getByRole('button', { name: 'Next video' }).focus()
    await page.keyboard.press('Enter')
    await runs(TITLES[1] ?? '')
    await page.locator('.entry').nth(1).focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await runs(TITLES[3] ?? '')
    await page.locator('.entry').nth(2).click()
    await runs(TITLES[2] ?? '')
    expect(pageErrors).toEqual([])
  }, 120_000)

  test('opens with its list closed by default, and shows the list below the video on a phone', async () => {
    await change({ open_in_playlist_view: 0, randomise: 0, video_limit: 3 })
    await page.setViewportSize({ width: 390, height: 844 })
    await open()
    await runs(TITLES[0] ?? '')
    expect(await page.locator('.list').isVisible()).toBe(false)
    await screenshot('playlist-phone-closed')
    await page.getByRole('button', { name: 'List of videos' }).click()
    expect(await page.getByRole('button', { name: 'List of videos' }).getAttribute('aria-expanded')).toBe('true')
    expect(await titles()).toEqual(TITLES.slice(0, 3))
    const [screen, list] = await Promise.all([page.locator('.screen').boundingBox(), page.locator('.list').boundingBox()])
    expect(list?.y).toBeGreaterThan((screen?.y ?? 0) + (screen?.height ?? 0) - 1)
    expect([screen?.width, list?.width]).toEqual([390, 390])
    await screenshot('playlist-phone')
    // As low as a small frame: the list is next to the video.
    await page.setViewportSize({ width: 640, height: 360 })
    expect((await page.locator('.list').boundingBox())?.x).toBeGreaterThan(300)
    await screenshot('playlist-frame')
  }, 120_000)

  test('plays all of its videos in varying order if it is randomised', async () => {
    await change({ open_in_playlist_view: 1, randomise: 1, video_limit: 0 })
    const orders = new Set<string>()
    for (let load = 0; load < 12; load++) {
      await open()
      const order = await titles()
      expect(order.toSorted()).toEqual(TITLES.toSorted())
      expect(await current()).toBe(order[0])
      orders.add(order.join())
    }
    // By chance, all orders are the same once in 24^11 runs.
    expect(orders.size).toBeGreaterThan(1)
  }, 120_000)

  test('shows a message if it is empty or does not exist', async () => {
    await change({ videos: [] })
    await page.goto(`${platform.url}/player/${playlistId}`)
    await page.getByText('This playlist has no videos.').waitFor({ timeout: extendTimeout(20_000) })
    await page.goto(`${platform.url}/player/4611686018427387905`)
    await page.getByText('This video is not available').waitFor({ timeout: extendTimeout(20_000) })
  }, 60_000)
})
