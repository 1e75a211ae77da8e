import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { browserPath, extendTimeout, waitFor } from '@vitascope/testing'
import type { Browser } from 'playwright-core'
import type { FaultProxy } from './fault-proxy.ts'
import { type OutageResult, type OutageRun, outageKinds, runOutage, screenshot } from './outage-run.ts'
import { type OutageSetup, startOutageSetup } from './outage-setup.ts'

const browserFile = browserPath()
const describeInBrowser = browserFile === undefined ? describe.skip : describe

/** A killed server, and a server that responds with 503. */
const mp4Kinds = ['killed', 'unavailable'] as const

describeInBrowser('an outage', () => {
  let setup: OutageSetup
  let browser: Browser
  let platform: OutageSetup['platform']
  let proxy: FaultProxy
  const runs = new Map<string, Promise<OutageResult>>()

  const start = (name: string, run: Pick<OutageRun, 'kind' | 'path' | 'isNative'>, before: Promise<unknown> = Promise.resolve()) => {
    const result = before.then(async () => runOutage({ ...run, browser, proxy: await setup.openProxy(), seconds: 8 }))
    // The test that awaits this result reports its failure.
    result.catch(() => {})
    runs.set(name, result)
  }

  beforeAll(async () => {
    setup = await startOutageSetup(browserFile ?? '')
    browser = setup.browser
    platform = setup.platform
    proxy = await setup.openProxy()
    // The runs mostly wait, so several run at once. All at once would be too many for one browser.
    for (const kind of outageKinds) start(kind, { kind, path: '/player/long?autoplay=1&muted=1' })
    const before = Promise.allSettled(runs.values())
    for (const kind of mp4Kinds) start(`mp4 ${kind}`, { kind, path: '/player/mp4?autoplay=1&muted=1', isNative: true }, before)
    start('native', { kind: 'killed', path: '/player/hls?autoplay=1&muted=1', isNative: true }, before)
  }, 90_000)
  afterAll(async () => {
    // Awaits runs of tests that were not selected or that failed early.
    await Promise.allSettled(runs.values())
    await setup?.stop()
  }, 180_000)

  test.each(outageKinds)(
    'of the kind "%s" ends with resumed playback, and causes at most one request per second',
    async (kind) => {
      const result = await runs.get(kind)
      expect(result?.resumedAfterMs).toBeLessThan(extendTimeout(5_000))
      expect(result?.maxMediaRequestsPerSecond).toBeLessThanOrEqual(1)
      expect(result?.requests).toBeLessThanOrEqual((result?.outageMs ?? 0) / 1000)
    },
    180_000,
  )

  test('of HLS that the browser plays natively ends with resumed playback', async () => {
    const result = await runs.get('native')
    expect(result?.resumedAfterMs).toBeLessThan(extendTimeout(5_000))
  }, 180_000)

  test.each(mp4Kinds)(
    'of the kind "%s" ends with resumed playback of an MP4, and causes at most one request per second',
    async (kind) => {
      const result = await runs.get(`mp4 ${kind}`)
      expect(result?.resumedAfterMs).toBeLessThan(extendTimeout(5_000))
      expect(result?.maxMediaRequestsPerSecond).toBeLessThanOrEqual(1)
      expect(result?.requests).toBeLessThanOrEqual((result?.outageMs ?? 0) / 1000)
    },
    180_000,
  )

  test('at the start shows the message, and the video then starts by itself', async () => {
    const page = await browser.newPage()
    platform.reject('/media/', 503, 'unavailable')
    await page.goto(`${proxy.url}/player/long?autoplay=1&muted=1`)
    await page.getByText('Connection lost. Trying again').waitFor({ timeout: extendTimeout(10_000) })
    expect(await page.getByRole('button', { name: 'Retry' }).isVisible()).toBe(true)
    platform.accept('/media/')
    await waitFor(() => page.locator('video').evaluate((video: HTMLVideoElement) => video.currentTime > 0.1), {
      timeout: 5_000,
      describe: 'the video to play',
    })
    await page.close()
  }, 60_000)

  test('at the start of an MP4 causes at most one request per second', async () => {
    const page = await browser.newPage()
    const sentAt: number[] = []
    page.on('request', (request) => request.url().includes('/media/') && sentAt.push(Date.now()))
    platform.reject('/media/', 503, 'unavailable')
    await page.goto(`${proxy.url}/player/mp4?autoplay=1&muted=1`)
    await waitFor(() => sentAt.length >= 4, { timeout: 20_000, describe: 'four requests' })
    platform.accept('/media/')
    const gaps = sentAt.slice(1).map((at, index) => at - (sentAt[index] ?? 0))
    expect(Math.min(...gaps)).toBeGreaterThan(900)
    await page.close()
  }, 60_000)

  test.each([390, 820, 1440])(
    'shows a message that covers neither the title nor the controls at a width of %i',
    async (width) => {
      const page = await browser.newPage({ viewport: { width, height: Math.round((width * 9) / 16) } })
      platform.reject('/media/', 503, 'unavailable')
      await page.goto(`${proxy.url}/player/long`)
      await page.getByRole('button', { name: 'Retry' }).waitFor({ timeout: extendTimeout(10_000) })
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        await screenshot(page, `outage-start-${colorScheme}-${width}`)
      }
      platform.accept('/media/')
      const boxes = await page.locator('.connection').evaluate((notice) => {
        const frame = notice.closest('.frame')
        const title = document.createRange()
        title.selectNodeContents(frame?.querySelector('.title') ?? notice)
        const [text, own] = [title.getBoundingClientRect(), notice.getBoundingClientRect()]
        const seek = frame?.querySelector('.seek')?.getBoundingClientRect()
        const start = frame?.querySelector('.start')?.getBoundingClientRect()
        return { titleEnd: text.bottom, top: own.top, bottom: own.bottom, startTop: start?.top ?? 0, seekTop: seek?.top ?? 0 }
      })
      expect(boxes.top).toBeGreaterThanOrEqual(boxes.titleEnd)
      expect(boxes.bottom).toBeLessThanOrEqual(Math.min(boxes.startTop, boxes.seekTop))
      await page.close()
    },
    60_000,
  )

  test('delays the slides and the storyboard until its end', async () => {
    const page = await browser.newPage({ viewport: { width: 820, height: 461 } })
    const uri = { hls: '/media/long.m3u8', http: {}, storyboard: '/media/storyboard.vtt' }
    platform.setRecord('talk', {
      video_title: 'Talk',
      presentation_id: 'deck',
      duration: '180',
      uri,
      status: { status: 'ok', progress: 100 },
    })
    platform.setRecord('deck', { slides: { '1': { seconds: 0, url: '/media/slide.jpg' } } })
    // The numbers of the segments are heights of renditions.
    const rejectedPrefixes = ['/v2/presentation/', '/media/storyboard', '/media/long-90-', '/media/long-180-']
    for (const prefix of rejectedPrefixes) platform.reject(prefix, 503, 'unavailable')
    await page.goto(`${proxy.url}/player/talk?presentation=1&autoplay=1&muted=1`)
    await page.getByText('Connection lost. Trying again').waitFor({ timeout: extendTimeout(10_000) })
    const showPreview = async () => {
      const { x = 0, y = 0, width = 0 } = (await page.locator('.seek').boundingBox()) ?? {}
      await page.mouse.move(x + width / 3, y + 1)
      await page.mouse.move(x + width / 2, y + 2)
    }
    await waitFor(
      async () => {
        await showPreview()
        return platform.requestedPaths.includes('/media/storyboard.vtt')
      },
      { timeout: 10_000, describe: 'the request for the storyboard' },
    )
    expect(await page.locator('.slides').count()).toBe(0)
    for (const prefix of rejectedPrefixes) platform.accept(prefix)
    await page.locator('.slides > img').waitFor({ state: 'attached', timeout: extendTimeout(10_000) })
    await showPreview()
    await page.locator('.peek > div').waitFor({ timeout: extendTimeout(10_000) })
    for (const path of ['/v2/presentation/deck', '/media/storyboard.vtt']) {
      expect(platform.requestedPaths.filter((one) => one === path)).toHaveLength(2)
    }
    await page.close()
  }, 60_000)

  test('while the script for HLS is loading delays the start of the video', async () => {
    const page = await browser.newPage()
    await page.route('**/assets/hls-*.js', (route) => route.abort('connectionrefused'))
    await page.goto(`${proxy.url}/player/long?autoplay=1&muted=1`)
    await page.getByText('Connection lost. Trying again').waitFor({ timeout: extendTimeout(10_000) })
    await page.unroute('**/assets/hls-*.js')
    await waitFor(() => page.locator('video').evaluate((video: HTMLVideoElement) => video.currentTime > 0.1), {
      timeout: 10_000,
      describe: 'the video to play',
    })
    await page.close()
  }, 60_000)

  test('shows a Retry button: ten clicks cause at most two requests, and a click after the outage hides it', async () => {
    const page = await browser.newPage()
    platform.reject('/media/', 503, 'unavailable')
    await page.goto(`${proxy.url}/player/long?autoplay=1&muted=1`)
    const button = page.getByRole('button', { name: 'Retry' })
    await button.waitFor({ timeout: extendTimeout(10_000) })
    const before = platform.requestedPaths.length
    await button.evaluate((element: HTMLButtonElement) => {
      for (let click = 0; click < 10; click++) element.click()
    })
    expect(platform.requestedPaths.length - before).toBeLessThanOrEqual(2)
    platform.accept('/media/')
    // The player may try again by itself first, which hides the button.
    await button.dispatchEvent('click')
    await button.waitFor({ state: 'hidden', timeout: extendTimeout(5_000) })
    await page.close()
  }, 60_000)
})
