import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { findFfmpeg } from '@vitascope/media'
import { browserArguments, browserPath, chooseInMenu, extendTimeout, listChoices, waitFor, waitForMenu } from '@vitascope/testing'
import { type Browser, chromium, type Page } from 'playwright-core'
import { createMedia, startTestPlatform } from './stand-in-platform.ts'

const browserFile = browserPath()
const describeInBrowser = browserFile === undefined ? describe.skip : describe

describeInBrowser('the player page', () => {
  const media = mkdtempSync(join(tmpdir(), 'vitascope-player-'))
  let platform: Awaited<ReturnType<typeof startTestPlatform>>
  let browser: Browser
  let page: Page
  const consoleErrors: string[] = []

  beforeAll(async () => {
    createMedia((await findFfmpeg({ path: process.env['VITASCOPE_FFMPEG'] })).ffmpeg, media)
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
    consoleErrors.length = 0
    page.on('console', (message) => message.type() === 'error' && consoleErrors.push(message.text()))
    page.on('pageerror', (error) => consoleErrors.push(error.message))
  })

  const createStatus = (state: string, progress: number, code: number) => ({ status: state, progress, code })
  const createUri = () => ({
    hls: `${platform.url}/media/master.m3u8`,
    poster_frame: `${platform.url}/media/poster.jpg`,
    http: { h264_500: `${platform.url}/media/whole.mp4` },
  })
  const createCompleteRecord = () => ({ video_title: 'Launch', uri: createUri(), status: createStatus('ok', 100, 2000) })
  const readPosition = () => page.locator('video').evaluate((video: HTMLVideoElement) => video.currentTime)
  const readNotice = () => page.locator('.notice').textContent()
  const readTime = async () => (await page.locator('.time slot').textContent())?.replaceAll('\u00a0', ' ').trim()

  test('autoplays if requested, with its title, without violating the content security policy', async () => {
    platform.setRecord('whole', createCompleteRecord())
    await page.goto(`${platform.url}/player/whole?autoplay=1&muted=1`)
    await waitFor(async () => (await readPosition()) > 2, { timeout: 20_000, describe: 'the video to pass 2 s' })
    expect(await page.title()).toBe('Launch')
    expect(await page.locator('video').evaluate((video: HTMLVideoElement) => video.muted && video.videoWidth > 0)).toBe(true)
    expect(consoleErrors).toEqual([])
    if (process.env['VITASCOPE_SCREENSHOTS']) await page.screenshot({ path: join(process.env['VITASCOPE_SCREENSHOTS'], 'player.png') })
  }, 40_000)

  test('waits for a click or a key without autoplay, and lists the qualities', async () => {
    platform.setRecord('whole', createCompleteRecord())
    await page.goto(`${platform.url}/player/whole`)
    await waitForMenu(page, 'quality')
    expect(await listChoices(page, 'quality')).toEqual(['360p', '180p', expect.stringMatching(/^✓ Auto/)])
    expect(await page.locator('[data-menu=captions]').count()).toBe(0)
    expect(await readPosition()).toBe(0)
    await page.locator('.start').click()
    await waitFor(async () => (await readPosition()) > 0.2, { describe: 'the click to start the video' })
    await chooseInMenu(page, 'quality', '180p')
    await waitFor(() => page.locator('video').evaluate((video: HTMLVideoElement) => video.videoHeight === 180), {
      describe: 'the smaller rendition',
    })
    await page.locator('.seek input').focus()
    await page.keyboard.press('k')
    await waitFor(() => page.locator('video').evaluate((video: HTMLVideoElement) => video.paused), {
      describe: 'the key to pause the video',
    })
    // The button is updated by an event, a little later.
    const label = () => page.locator('.row .play-pause').getAttribute('aria-label')
    await waitFor(async () => (await label())?.toLowerCase() === 'play', { describe: 'the label of the button to change' })
  }, 40_000)

  test('does not start the video after encoding unless autoplay is requested', async () => {
    for (const query of ['', '?autoplay=1']) {
      platform.setRecord('young', { video_title: 'Young', status: createStatus('encoding', 42, 2) })
      await page.goto(`${platform.url}/player/young${query}`)
      await waitFor(async () => (await readNotice())?.includes('42 %'), { describe: 'the progress' })
      platform.setRecord('young', createCompleteRecord())
      await waitForMenu(page, 'quality')
      const video = page.locator('video')
      await waitFor(() => video.evaluate((element: HTMLVideoElement) => element.readyState >= 3), {
        timeout: 20_000,
        describe: 'playable data',
      })
      if (query === '') {
        await page.locator('.start').waitFor()
        expect(await video.evaluate((element: HTMLVideoElement) => [element.paused, element.played.length])).toEqual([true, 0])
      } else await waitFor(async () => (await readPosition()) > 0.2, { describe: 'the video to play' })
    }
  }, 60_000)

  test('shows the progress while the video is encoded, then plays it', async () => {
    platform.setRecord('young', { video_title: 'Young', status: createStatus('encoding', 42, 2) })
    await page.goto(`${platform.url}/player/young?autoplay=1`)
    await waitFor(async () => (await readNotice())?.includes('42 %'), { describe: 'the progress' })
    expect(await page.getByRole('progressbar').getAttribute('aria-valuenow')).toBe('42')
    if (process.env['VITASCOPE_SCREENSHOTS']) await page.screenshot({ path: join(process.env['VITASCOPE_SCREENSHOTS'], 'encoding.png') })
    platform.setRecord('young', { video_title: 'Young', duration: '600.00', uri: createUri(), status: createStatus('encoding', 60, 2) })
    await waitFor(async () => (await readPosition()) > 0.2, { describe: 'the first segments to play' })
    expect(await page.locator('.badge').textContent()).toBe('Encoding: 60 %')
    // Six seconds of its ten minutes can be played.
    await waitFor(async () => (await readTime())?.endsWith('/ 10:00'), { describe: 'the duration of the complete video' })
    const bar = page.locator('.seek')
    expect(await bar.evaluate((element: HTMLElement) => element.style.getPropertyValue('--playable'))).toMatch(/^1(\.0\d*)?%$/)
    const { x = 0, y = 0, width = 0, height = 0 } = (await bar.boundingBox()) ?? {}
    await page.mouse.click(x + width * 0.66, y + height / 2)
    await waitFor(async () => (await readPosition()) > 5, { describe: 'the end of the available segments' })
    platform.setRecord('young', createCompleteRecord())
    await waitFor(async () => !(await page.locator('.badge').isVisible()), { describe: 'the end of the encoding' })
    await waitFor(async () => (await readTime())?.endsWith('/ 0:06'), { describe: 'the duration of the video' })
  }, 40_000)

  test('adds the token of the page address to the URLs of the playlist and of the poster', async () => {
    platform.setRecord('closed', { ...createCompleteRecord(), security: { token_required_platform: true } })
    await page.goto(`${platform.url}/player/closed`)
    await waitFor(async () => (await readNotice())?.includes('personal link'), { describe: 'the rejection message' })
    platform.requestedPaths.length = 0
    await page.goto(`${platform.url}/player/closed?token=to.ken&autoplay=1`)
    await waitFor(async () => (await readPosition()) > 0.2, { describe: 'the video to play' })
    expect(platform.requestedPaths).toContain('/media/master.m3u8?token=to.ken')
    expect(platform.requestedPaths).toContain('/media/poster.jpg?token=to.ken')
  }, 40_000)

  test('plays the MP4 if the playlist is unavailable', async () => {
    platform.setRecord('whole', { ...createCompleteRecord(), uri: { ...createUri(), hls: `${platform.url}/media/missing.m3u8` } })
    await page.goto(`${platform.url}/player/whole?autoplay=1`)
    await waitFor(async () => (await readPosition()) > 0.2, { timeout: 20_000, describe: 'the MP4 to play' })
    expect(await page.locator('video').evaluate((video: HTMLVideoElement) => video.currentSrc)).toContain('/media/whole.mp4')
  }, 40_000)

  test('shows the message of the owner for an expired video, and the reason for a failed one', async () => {
    platform.setRecord('gone', { code: 'video_expired', detail: 'The <b>sale</b> is over.' }, 404)
    await page.goto(`${platform.url}/player/gone`)
    await waitFor(async () => (await readNotice())?.includes('The <b>sale</b> is over.'), { describe: 'the message' })
    platform.setRecord('broken', { video_title: 'Broken', status: createStatus('failed', 7, 4001) })
    await page.goto(`${platform.url}/player/broken`)
    await waitFor(async () => (await readNotice())?.includes('Its source could not be reached.'), { describe: 'the reason' })
    if (process.env['VITASCOPE_SCREENSHOTS']) await page.screenshot({ path: join(process.env['VITASCOPE_SCREENSHOTS'], 'failed.png') })
  })

  test('shows a message if the server does not return the playlist, and the playlist after a retry', async () => {
    platform.setHead('list', '<meta name="vitascope:shows" content="playlist">')
    platform.setRecord('list', {}, 503)
    await page.goto(`${platform.url}/player/list`)
    await page.getByText('The server cannot be reached').waitFor({ timeout: extendTimeout(20_000) })
    platform.setRecord('list', { title: 'All', videos: [] })
    await page.getByRole('button', { name: 'Retry' }).click()
    await page.getByText('This playlist has no videos.').waitFor({ timeout: extendTimeout(20_000) })
  }, 60_000)

  test('plays a video whose first response broke off', async () => {
    platform.setRecord('brief', createCompleteRecord())
    platform.brokenRecords.add('brief')
    await page.goto(`${platform.url}/player/brief?autoplay=1`)
    await page.getByText('The server cannot be reached').waitFor({ timeout: extendTimeout(20_000) })
    platform.brokenRecords.delete('brief')
    await waitFor(async () => (await readPosition()) > 0.2, { timeout: 20_000, describe: 'the video to play' })
  }, 60_000)

  test('shows a playlist whose first response broke off', async () => {
    platform.setHead('few', '<meta name="vitascope:shows" content="playlist">')
    platform.setRecord('few', { title: 'Few', videos: [] })
    platform.brokenRecords.add('few')
    await page.goto(`${platform.url}/player/few`)
    await page.getByText('The server cannot be reached').waitFor({ timeout: extendTimeout(20_000) })
    platform.brokenRecords.delete('few')
    await page.getByRole('button', { name: 'Retry' }).click()
    await page.getByText('This playlist has no videos.').waitFor({ timeout: extendTimeout(20_000) })
  }, 60_000)
})
