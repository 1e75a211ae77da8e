import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { browserArguments, browserPath, extendTimeout, freePort, waitFor } from '@vitascope/testing'
import { type Browser, chromium, type Page } from 'playwright-core'
import { longTest } from './support/long-test.ts'
import { kill } from './support/nemesis.ts'
import { type SourceServer, startSourceServer } from './support/source-server.ts'
import { makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, upload, waitUntilSettled } from './support/video-steps.ts'

const browserFile = browserPath()
const describeInBrowser = browserFile === undefined ? describe.skip : describe

/**
 * A video element for functions that run in the page, because tests do not have the types of the
 * DOM.
 */
interface VideoState {
  currentTime: number
  paused: boolean
}

describeInBrowser('a viewer of the real platform', () => {
  let folder: string
  let platform: TestPlatform
  let sources: SourceServer
  let browser: Browser
  let videoId: string
  /** 1.5 times the average rate of the smallest rendition, so that a segment is loading most of the time. */
  let bytesPerSecond: number

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sources-'))
    sources = await startSourceServer(folder)
    await makeSource(folder, 'minute.mp4')
    platform = await startTestPlatform({ VITASCOPE_PORT: String(await freePort()), VITASCOPE_OPS_PORT: String(await freePort()) })
    const tenant = await createTenant(platform.system)
    const api = platform.withKey(tenant.key)
    videoId = (await upload(api, tenant.organisationId, `${sources.url}/minute.mp4`)).id
    const video = await waitUntilSettled(api, videoId)
    expect(video.status.status).toBe('ok')
    const master = await (await fetch(video.uri.hls)).text()
    const rates = [...master.matchAll(/AVERAGE-BANDWIDTH=(\d+)/g)].map(([, bits]) => Number(bits) / 8)
    bytesPerSecond = Math.round(1.5 * Math.min(...rates))
    browser = await chromium.launch({ executablePath: browserFile ?? '', args: [...browserArguments] })
  }, 180_000)
  afterAll(async () => {
    await browser?.close()
    await platform?.remove()
    await sources?.close()
    await rm(folder, { recursive: true, force: true })
  })

  const position = (page: Page) => page.locator('video').evaluate((video: VideoState) => video.currentTime)
  const isReady = async () => (await fetch(`${platform.url}/readyz`).catch(() => undefined))?.ok ?? false

  /** Plays the video over a slow connection and returns while a segment is loading. */
  const play = async () => {
    const page = await browser.newPage({ viewport: { width: 820, height: 461 } })
    const session = await page.context().newCDPSession(page)
    await session.send('Network.enable')
    // The first visit loads the script into the cache, but no segments: cached segments would not be
    // requested again.
    await session.send('Network.setBlockedURLs', { urls: ['*.m4s', '*.mp4'] })
    await page.goto(`${platform.url}/player/${videoId}`)
    await page.locator('video').waitFor({ state: 'attached', timeout: extendTimeout(30_000) })
    await session.send('Network.setBlockedURLs', { urls: [] })
    await session.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 20,
      downloadThroughput: bytesPerSecond,
      uploadThroughput: bytesPerSecond,
    })
    const open = new Set<string>()
    page.on('request', (request) => open.add(request.url()))
    for (const event of ['requestfinished', 'requestfailed'] as const) {
      page.on(event as 'requestfinished', (request) => open.delete(request.url()))
    }
    await page.goto(`${platform.url}/player/${videoId}?autoplay=1&muted=1`)
    await waitFor(async () => (await position(page)) > 1, { timeout: 60_000, describe: 'the video to play' })
    await waitFor(() => [...open].some((url) => /\.(m4s|mp4)$/.test(new URL(url).pathname)), {
      timeout: 30_000,
      describe: 'a segment to be loading',
    })
    return page
  }
  const readsMessage = async (page: Page) => {
    await page.getByText('Connection lost. Trying again').waitFor({ timeout: extendTimeout(30_000) })
    expect(await page.getByRole('button', { name: 'Retry' }).isVisible()).toBe(true)
    expect(await page.locator('media-loading-indicator').isVisible()).toBe(false)
  }
  const stalls = (page: Page) =>
    waitFor(
      async () => {
        const before = await position(page)
        await page.waitForTimeout(300)
        return (await position(page)) === before
      },
      { timeout: 60_000, describe: 'playback to stop' },
    )
  /** Waits until the platform answers again. Playback must continue within 5 s. */
  const resumes = async (page: Page) => {
    const from = await position(page)
    await waitFor(isReady, { timeout: 60_000, interval: 50, describe: 'the platform to be ready' })
    const readyAt = Date.now()
    await waitFor(async () => (await position(page)) > from + 0.2, { timeout: 60_000, describe: 'playback to continue' })
    const resumedAfterMs = Date.now() - readyAt
    process.stderr.write(`resumed ${resumedAfterMs} ms after the platform was ready\n`)
    expect(resumedAfterMs).toBeLessThan(extendTimeout(5_000))
    expect(await page.locator('video').evaluate((video: VideoState) => video.paused)).toBe(false)
    await page.getByText('Connection lost. Trying again').waitFor({ state: 'hidden', timeout: extendTimeout(5_000) })
  }

  test('shows that the connection is lost while the gateway is down, and playback resumes', async () => {
    const page = await play()
    // The platform restarts the gateway immediately, so it is killed until the player shows the
    // outage.
    const kills = setInterval(() => kill(platform, 'gateway'), 100)
    try {
      await readsMessage(page)
      await stalls(page)
    } finally {
      clearInterval(kills)
    }
    await resumes(page)
    await page.close()
  }, 180_000)

  longTest(
    'shows that the connection is lost while the platform restarts, and playback resumes',
    async () => {
      const page = await play()
      await platform.stop()
      await readsMessage(page)
      await stalls(page)
      platform = await platform.restart()
      await resumes(page)
      await page.close()
    },
    180_000,
  )
})
