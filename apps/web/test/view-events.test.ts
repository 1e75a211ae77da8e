import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { findFfmpeg } from '@vitascope/media'
import { browserArguments, browserPath, chooseInMenu, extendTimeout, waitFor, waitForMenu } from '@vitascope/testing'
import { type Browser, chromium, type Page } from 'playwright-core'
import { createMedia, startTestPlatform } from './stand-in-platform.ts'

const browserFile = browserPath()
const describeInBrowser = browserFile === undefined ? describe.skip : describe

/** Checks the events that the page sends for a view. The platform only records them. */
describeInBrowser('events of a view', () => {
  const media = mkdtempSync(join(tmpdir(), 'vitascope-view-events-'))
  let platform: Awaited<ReturnType<typeof startTestPlatform>>
  let browser: Browser
  let page: Page

  beforeAll(async () => {
    createMedia((await findFfmpeg({ path: process.env['VITASCOPE_FFMPEG'] })).ffmpeg, media)
    platform = await startTestPlatform(media)
    const uri = { hls: `${platform.url}/media/master.m3u8`, poster_frame: `${platform.url}/media/poster.jpg`, http: {} }
    platform.setRecord('v', { video_title: 'Launch', language: 'en', uri, status: { status: 'ok', progress: 100, code: 2000 } })
    browser = await chromium.launch({ executablePath: browserFile ?? '', args: [...browserArguments] })
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await platform?.stop()
    rmSync(media, { recursive: true, force: true })
  })
  beforeEach(async () => {
    for (const context of browser.contexts()) await context.close()
    page = await (await browser.newContext()).newPage()
    platform.receivedEvents.length = 0
    platform.receivedReports.length = 0
    platform.requestedPaths.length = 0
    platform.events.status = 202
    platform.setHead('v', '')
  })

  const openPage = () => page.goto(`${platform.url}/player/v?autoplay=1&muted=1`)
  const evaluateVideo = <Value>(read: (video: HTMLVideoElement) => Value) => page.locator('video').evaluate(read)
  const waitForPosition = (seconds: number) =>
    waitFor(() => page.locator('video').evaluate((video: HTMLVideoElement, at) => video.currentTime > at, seconds), {
      timeout: 30_000,
      describe: `the picture to pass ${seconds} s`,
    })
  const findEvents = (type: string) => platform.receivedEvents.filter((event) => event.type === type)
  const waitForEvent = (type: string, count = 1) =>
    waitFor(() => findEvents(type).length >= count, {
      timeout: 30_000,
      describe: () => `${type} among ${JSON.stringify(platform.receivedEvents)}`,
    })

  test('share one view id; the first has the language, and the last the startup time', async () => {
    await openPage()
    await waitForEvent('ended')
    expect(platform.receivedEvents.map(({ type }) => type).filter((type) => type !== 'progress')).toEqual(['load', 'play', 'ended'])
    expect(new Set(platform.receivedEvents.map(({ view_id }) => view_id)).size).toBe(1)
    expect(platform.receivedEvents[0]).toMatchObject({ video_id: 'v', language: 'en', view_id: expect.stringMatching(/^[0-9a-f-]{36}$/) })
    const parts = platform.receivedEvents.flatMap(({ watched = [] }) => watched)
    expect([parts[0]?.[0], platform.receivedEvents.flatMap(({ rewatched = [] }) => rewatched)]).toEqual([0, []])
    expect(Math.abs((parts.at(-1)?.[1] ?? 0) - 6)).toBeLessThan(0.2)
    expect(findEvents('ended')[0]?.qoe).toMatchObject({ startup_ms: expect.any(Number), stalls: expect.any(Number) })
  }, 60_000)

  test('are sent after an outage, also by the next page', async () => {
    platform.events.status = 503
    await openPage()
    await waitForPosition(1)
    await evaluateVideo((video) => video.pause())
    expect(platform.receivedEvents).toEqual([])
    platform.events.status = 202
    await page.reload()
    await waitFor(() => new Set(platform.receivedEvents.map(({ view_id }) => view_id)).size === 2, {
      timeout: 30_000,
      describe: 'both views',
    })
    const [first] = platform.receivedEvents
    const parts = platform.receivedEvents.filter(({ view_id }) => view_id === first?.view_id)
    expect(parts.map(({ type }) => type)).toEqual(expect.arrayContaining(['load', 'play', 'progress']))
    expect(parts.flatMap(({ watched = [] }) => watched)[0]?.[0]).toBe(0)
  }, 60_000)

  test('do not report the end of a video that was never played', async () => {
    await page.goto(`${platform.url}/player/v`)
    await waitFor(() => evaluateVideo((video) => video.readyState > 0), { timeout: 30_000, describe: 'the player' })
    // Browsers send it if a paused video is moved to its end.
    await evaluateVideo((video) => video.dispatchEvent(new Event('ended')))
    await page.goto('about:blank')
    await waitForEvent('load')
    expect(platform.receivedEvents.map(({ type }) => type)).toEqual(['load'])
  }, 60_000)

  test('include the watched part when the viewer leaves the page', async () => {
    await openPage()
    await waitForPosition(1.5)
    await page.goto('about:blank')
    await waitForEvent('progress')
    expect(findEvents('progress').at(-1)?.watched?.at(-1)?.[1]).toBeGreaterThan(1)
  }, 60_000)

  test('are sent every 10 s during playback, with the newly watched parts', async () => {
    await openPage()
    await waitForEvent('play')
    // At a speed of 0.25, six seconds last 24 s.
    await evaluateVideo((video) => {
      video.playbackRate = 0.25
    })
    await waitFor(() => findEvents('progress').length >= 2, { timeout: 60_000, describe: 'two progress events' })
    const [play, first, second] = [...findEvents('play'), ...findEvents('progress')]
    for (const [from, to] of [
      [play, first],
      [first, second],
    ])
      expect(Math.abs(Number(to?.at) - Number(from?.at) - 10_000)).toBeLessThan(extendTimeout(2_000))
    expect(second?.watched?.[0]?.[0]).toBeCloseTo(first?.watched?.at(-1)?.[1] ?? 0, 1)
    expect(second?.position).toBeGreaterThan(first?.position ?? 0)
  }, 90_000)

  test('are followed by a CMCD report of play states and rendition switches, and media requests carry no CMCD', async () => {
    await page.goto(`${platform.url}/player/v`)
    await waitForMenu(page, 'quality')
    await chooseInMenu(page, 'quality', '180p')
    await evaluateVideo((video) => {
      video.muted = true
      video.playbackRate = 0.5
      return video.play()
    })
    await waitForPosition(0.3)
    await chooseInMenu(page, 'quality', '360p')
    const reports = () => platform.receivedReports.join('\n')
    await waitFor(() => /com\.vitascope-to="360"/.test(reports()), { timeout: 30_000, describe: () => `a switch in ${reports()}` })
    const viewId = platform.receivedEvents[0]?.view_id
    for (const line of platform.receivedReports) {
      expect(line).toContain(`sid="${viewId}"`)
      expect(line).toContain('cid="v"')
    }
    expect(reports()).toMatch(/e=ps,.*sta=p/)
    expect(reports()).toMatch(/cen="rendition-switch",.*com\.vitascope-from="180",.*com\.vitascope-to="360"/)
    await waitForEvent('ended')
    expect(findEvents('ended')[0]?.qoe?.switches).toBe(1)
    await page.goto('about:blank')
    await waitFor(() => /sta=e/.test(reports()), { timeout: 30_000, describe: () => `the end in ${reports()}` })
    expect(platform.requestedPaths.filter((path) => /cmcd/i.test(path))).toEqual([])
  }, 60_000)

  test('are not sent if the browser requests no tracking, unless the platform is configured to ignore it', async () => {
    const disableTracking = () => page.addInitScript(() => Object.defineProperty(navigator, 'doNotTrack', { get: () => '1' }))
    await disableTracking()
    await openPage()
    // The first lines of a report are sent after 3 s.
    await waitForPosition(4)
    expect([platform.receivedEvents, platform.receivedReports]).toEqual([[], []])
    platform.setHead('v', '<meta name="vitascope:events" content="all" />')
    await openPage()
    await waitForEvent('play')
  }, 60_000)
})
