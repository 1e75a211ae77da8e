import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { findFfmpeg } from '@vitascope/media'
import { browserArguments, browserPath, waitFor } from '@vitascope/testing'
import { type Browser, chromium, type Page } from 'playwright-core'
import { makeMedia, startPlatform } from './stand-in-platform.ts'

const browserFile = browserPath()
const inBrowser = browserFile === undefined ? describe.skip : describe

/** What the page tells of a view, by a platform that only writes it down. */
inBrowser('telling', () => {
  const media = mkdtempSync(join(tmpdir(), 'vitascope-telling-'))
  let platform: Awaited<ReturnType<typeof startPlatform>>
  let browser: Browser
  let page: Page

  beforeAll(async () => {
    makeMedia((await findFfmpeg({ path: process.env['VITASCOPE_FFMPEG'] })).ffmpeg, media)
    platform = await startPlatform(media)
    const uri = { hls: `${platform.url}/media/master.m3u8`, poster_frame: `${platform.url}/media/poster.jpg`, http: {} }
    platform.answer('v', { video_title: 'Launch', language: 'en', uri, status: { status: 'ok', progress: 100, code: 2000 } })
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
    platform.told.length = 0
    platform.events.status = 202
    platform.head('v', '')
  })

  const open = () => page.goto(`${platform.url}/player/v?autoplay=1&muted=1`)
  const of = <Value>(read: (video: HTMLVideoElement) => Value) => page.locator('video').evaluate(read)
  const passes = (seconds: number) =>
    waitFor(() => page.locator('video').evaluate((video: HTMLVideoElement, at) => video.currentTime > at, seconds), {
      timeout: 30_000,
      describe: `the picture to pass ${seconds} s`,
    })
  const told = (type: string) => platform.told.filter((event) => event.type === type)
  const comes = (type: string, count = 1) =>
    waitFor(() => told(type).length >= count, { timeout: 30_000, describe: () => `${type} among ${JSON.stringify(platform.told)}` })

  test('a whole view is told under one id, with its language and how soon it began', async () => {
    await open()
    await comes('ended')
    expect(platform.told.map(({ type }) => type).filter((type) => type !== 'progress')).toEqual(['load', 'play', 'ended'])
    expect(new Set(platform.told.map(({ view_id }) => view_id)).size).toBe(1)
    expect(platform.told[0]).toMatchObject({ video_id: 'v', language: 'en', view_id: expect.stringMatching(/^[0-9a-f-]{36}$/) })
    const parts = platform.told.flatMap(({ watched = [] }) => watched)
    expect([parts[0]?.[0], platform.told.flatMap(({ rewatched = [] }) => rewatched)]).toEqual([0, []])
    expect(Math.abs((parts.at(-1)?.[1] ?? 0) - 6)).toBeLessThan(0.2)
    expect(told('ended')[0]?.qoe).toMatchObject({ startup_ms: expect.any(Number), stalls: expect.any(Number) })
  }, 60_000)

  test('what was told while nobody listened is told when somebody does, also by the next page', async () => {
    platform.events.status = 503
    await open()
    await passes(1)
    await of((video) => video.pause())
    expect(platform.told).toEqual([])
    platform.events.status = 202
    await page.reload()
    await waitFor(() => new Set(platform.told.map(({ view_id }) => view_id)).size === 2, { timeout: 30_000, describe: 'both views' })
    const [first] = platform.told
    const parts = platform.told.filter(({ view_id }) => view_id === first?.view_id)
    expect(parts.map(({ type }) => type)).toEqual(expect.arrayContaining(['load', 'play', 'progress']))
    expect(parts.flatMap(({ watched = [] }) => watched)[0]?.[0]).toBe(0)
  }, 60_000)

  test('a page that is left in the middle has told how far it came', async () => {
    await open()
    await passes(1.5)
    await page.goto('about:blank')
    await comes('progress')
    expect(told('progress').at(-1)?.watched?.at(-1)?.[1]).toBeGreaterThan(1)
  }, 60_000)

  test('while it plays the view is told every ten seconds, each time what was watched since the last', async () => {
    await open()
    await comes('play')
    // Six seconds last for twenty-four.
    await of((video) => {
      video.playbackRate = 0.25
    })
    await waitFor(() => told('progress').length >= 2, { timeout: 60_000, describe: 'two words on the way' })
    const [play, first, second] = [...told('play'), ...told('progress')]
    for (const [from, to] of [
      [play, first],
      [first, second],
    ])
      expect(Math.abs(Number(to?.at) - Number(from?.at) - 10_000)).toBeLessThan(2_000)
    expect(second?.watched?.[0]?.[0]).toBeCloseTo(first?.watched?.at(-1)?.[1] ?? 0, 1)
    expect(second?.position).toBeGreaterThan(first?.position ?? 0)
  }, 90_000)

  test('who asks not to be tracked is not, unless the platform has decided otherwise', async () => {
    const refuse = () => page.addInitScript(() => Object.defineProperty(navigator, 'doNotTrack', { get: () => '1' }))
    await refuse()
    await open()
    await passes(1)
    expect(platform.told).toEqual([])
    platform.head('v', '<meta name="vitascope:events" content="all" />')
    await open()
    await comes('play')
  }, 60_000)
})
