import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { findFfmpeg } from '@vitascope/media'
import { browserArguments, browserPath, chooseInMenu, listChoices, waitFor, waitForMenu } from '@vitascope/testing'
import { type Browser, chromium, type Page } from 'playwright-core'
import { createLongMedia } from './long-media.ts'
import { screenshots, throttle } from './outage-run.ts'
import { startTestPlatform } from './stand-in-platform.ts'

const browserFile = browserPath()
const describeInBrowser = browserFile === undefined ? describe.skip : describe

/** The player must not handle a response 401, 403 or 404 as an outage. */
describeInBrowser('a media file is rejected', () => {
  const media = mkdtempSync(join(tmpdir(), 'vitascope-rejection-'))
  let platform: Awaited<ReturnType<typeof startTestPlatform>>
  let browser: Browser
  let page: Page

  beforeAll(async () => {
    createLongMedia((await findFfmpeg({ path: process.env['VITASCOPE_FFMPEG'] })).ffmpeg, media, 60)
    // The same files under another URL.
    symlinkSync(media, join(media, 'moved'))
    platform = await startTestPlatform(media)
    browser = await chromium.launch({ executablePath: browserFile ?? '', args: [...browserArguments] })
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await platform?.stop()
    rmSync(media, { recursive: true, force: true })
  })
  beforeEach(async () => {
    for (const context of browser.contexts()) await context.close()
    page = await (await browser.newContext({ viewport: { width: 960, height: 540 } })).newPage()
    platform.accept('/media/')
    platform.accept('/media/long')
    platform.requestedPaths.length = 0
  })

  const videoJson = (overrides: Record<string, unknown> = {}) => ({
    video_title: 'Launch',
    uri: { hls: `${platform.url}/media/long.m3u8`, http: {} },
    status: { status: 'ok', progress: 100, code: 2000 },
    ...overrides,
  })
  const readPosition = () => page.locator('video').evaluate((video: HTMLVideoElement) => video.currentTime)
  const waitForPosition = (seconds: number) =>
    waitFor(async () => (await readPosition()) > seconds, { timeout: 60_000, describe: `the video to pass ${seconds} s` })
  const waitForNotice = (words: string) =>
    waitFor(async () => (await page.locator('.notice').textContent())?.includes(words), { timeout: 20_000, describe: words })
  const startPlayback = async (query = '') => {
    await page.goto(`${platform.url}/player/v?${query}`)
    await waitForMenu(page, 'quality')
    // The throttled rate is sufficient for playback, but too low to load the distant segments in
    // advance.
    await throttle(page)
    await page.goto(`${platform.url}/player/v?autoplay=1&muted=1${query}`)
    await waitForPosition(1)
  }
  const seekToDistantSegment = () =>
    page.locator('video').evaluate((video: HTMLVideoElement) => {
      video.currentTime = 50
    })
  test.each([
    ['address_refused', 'certain networks only'],
    ['token_expired', 'This link has expired'],
    ['token_malformed', 'This link is not valid'],
    ['token_wrong_domain', 'another page'],
    ['too_many_sessions', 'as many devices'],
    ['session_ended', 'has ended it'],
    ['token_required', 'personal link'],
  ])('with %s: the page shows the text "%s"', async (code, words) => {
    platform.setRecord('v', videoJson())
    platform.reject('/media/', 403, code)
    await page.goto(`${platform.url}/player/v`)
    await waitForNotice(words)
    expect(await page.getByText('personal link').count()).toBe(words === 'personal link' ? 1 : 0)
    await screenshots(page, `rejected-${code}`)
  })

  test('because the video has moved: playback continues from the new URL at the same position in the same view', async () => {
    platform.setRecord('v', videoJson())
    await startPlayback()
    platform.receivedEvents.length = 0
    await chooseInMenu(page, 'quality', '90p')
    await page.locator('video').evaluate((video: HTMLVideoElement) => {
      video.playbackRate = 1.5
    })
    platform.setRecord('v', videoJson({ uri: { hls: `${platform.url}/media/moved/long.m3u8`, http: {} } }))
    platform.reject('/media/long', 404, 'not_found')
    await seekToDistantSegment()
    await waitForPosition(50.2)
    expect(platform.requestedPaths).toContain('/media/moved/long.m3u8')
    const playbackState = await page.locator('video').evaluate((video: HTMLVideoElement) => [video.playbackRate, video.paused])
    expect(playbackState).toEqual([1.5, false])
    expect(await listChoices(page, 'quality')).toContain('✓ 90p')
    expect(platform.receivedEvents.filter(({ type }) => type === 'load')).toEqual([])
  }, 60_000)

  test('because the video has expired: the page shows the message of the owner', async () => {
    platform.setRecord('v', videoJson())
    await startPlayback()
    platform.setRecord('v', { code: 'video_expired', detail: 'The sale is over.' }, 404)
    platform.reject('/media/', 404, 'not_found')
    await seekToDistantSegment()
    await waitForNotice('The sale is over.')
  }, 60_000)

  test('because the token has expired: the page shows that the link has expired', async () => {
    platform.setRecord('v', videoJson({ security: { token_required_platform: true } }))
    await startPlayback('&token=to.ken')
    platform.reject('/media/', 401, 'token_expired')
    await seekToDistantSegment()
    await waitForNotice('This link has expired')
  }, 60_000)

  test('because it is missing: the page shows a message with a button, and plays when the file is available again', async () => {
    platform.setRecord('v', videoJson())
    platform.reject('/media/', 404, 'not_found')
    await page.goto(`${platform.url}/player/v?autoplay=1&muted=1`)
    await waitForNotice('Its files could not be read.')
    await screenshots(page, 'files-gone')
    await page.getByRole('button', { name: 'Retry' }).click()
    await waitForNotice('Its files could not be read.')
    platform.accept('/media/')
    await waitForPosition(0.5)
  }, 60_000)

  test('because its rendition is missing: another rendition plays', async () => {
    platform.setRecord('v', videoJson({ hd: { allow: '1', auto: '1' } }))
    platform.reject('/media/long-180-', 404, 'not_found')
    try {
      await startPlayback()
    } finally {
      platform.accept('/media/long-180-')
    }
    expect(await page.locator('video').evaluate((video: HTMLVideoElement) => video.videoHeight)).toBe(90)
  }, 60_000)
})
