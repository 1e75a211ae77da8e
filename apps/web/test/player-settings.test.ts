// Faults: B13
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { findFfmpeg } from '@vitascope/media'
import { browserArguments, browserPath, waitFor, waitForMenu } from '@vitascope/testing'
import { type Browser, chromium, type Page } from 'playwright-core'
import { createMedia, startTestPlatform } from './stand-in-platform.ts'

const browserFile = browserPath()
const describeInBrowser = browserFile === undefined ? describe.skip : describe

describeInBrowser('the player applies the settings of a video and its profile', () => {
  const media = mkdtempSync(join(tmpdir(), 'vitascope-player-settings-'))
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
    platform.requestedPaths.length = 0
    page.on('console', (message) => message.type() === 'error' && consoleErrors.push(message.text()))
    page.on('pageerror', (error) => consoleErrors.push(error.message))
  })

  const uri = () => ({
    hls: `${platform.url}/media/master.m3u8`,
    poster_frame: `${platform.url}/media/poster.jpg`,
    http: { h264_500: `${platform.url}/media/whole.mp4` },
  })
  const videoJson = (more: Record<string, unknown> = {}) => ({
    video_title: 'Launch',
    uri: uri(),
    status: { status: 'ok', progress: 100, code: 2000 },
    ...more,
  })
  const position = () => page.locator('video').evaluate((video: HTMLVideoElement) => video.currentTime)
  const waitForPosition = (seconds: number) =>
    waitFor(async () => (await position()) > seconds, { describe: `the video to pass ${seconds} s` })
  const text = () => page.locator('.notice').textContent()
  const takeScreenshot = async (name: string) => {
    const folder = process.env['VITASCOPE_SCREENSHOTS']
    if (folder) await page.screenshot({ path: join(folder, `${name}.png`) })
  }

  test('a profile can start the video and hide the title and controls', async () => {
    const player_settings = { is_auto_play: '1', show_title_bar: '0', show_controls: '0' }
    platform.setRecord('bare', videoJson({ player_settings, language: 'nl' }))
    await page.goto(`${platform.url}/player/bare`)
    await waitForPosition(0.5)
    expect(platform.requestedPaths).toContain('/v2/video/bare?player_settings=true')
    expect(await page.locator('.title').isVisible()).toBe(false)
    expect(await page.locator('.controls').isVisible()).toBe(false)
    expect(await page.locator('video').getAttribute('lang')).toBe('nl')
    expect(consoleErrors).toEqual([])
  }, 40_000)

  test('a theme sets the colours of the player', async () => {
    const theme = {
      ...{ background_colour: '#223344', text_colour: '#ffeecc', icon_colour: '#ffcc00', control_bar_colour: '#551111' },
      ...{ overlay_text_colour: '#112233', overlay_background_colour: '#ffffff', overlay_link_colour: '#aa0000' },
    }
    const overlays = [{ title: 'Tickets', link_url: 'https://x.example/', show: { during: { start: '00:00', end: '00:05' } } }]
    platform.setRecord('colours', videoJson({ theme, overlays }))
    await page.setViewportSize({ width: 960, height: 640 })
    await page.goto(`${platform.url}/player/colours?autoplay=1&muted=1`)
    await waitForPosition(0.5)
    const readStyle = (selector: string, name: string) =>
      page
        .locator(selector)
        .first()
        .evaluate((element, property) => getComputedStyle(element).getPropertyValue(property), name)
    expect(await readStyle('.frame', 'background-color')).toBe('rgb(34, 51, 68)')
    expect(await readStyle('.title', 'color')).toBe('rgb(255, 238, 204)')
    expect(await readStyle('.row .play-pause svg', 'fill')).toBe('rgb(255, 204, 0)')
    expect(await readStyle('.controls', 'background-image')).toContain('rgb(85, 17, 17)')
    expect(await readStyle('.overlay', 'background-color')).toBe('rgb(255, 255, 255)')
    expect(await readStyle('.overlay h2', 'color')).toBe('rgb(17, 34, 51)')
    expect(await readStyle('.overlay a', 'color')).toBe('rgb(170, 0, 0)')
    await takeScreenshot('player-theme')
    expect(consoleErrors).toEqual([])
  }, 40_000)

  test('the buttons for sharing and download are shown only if allowed', async () => {
    const player_settings = { allow_sharing: '1', show_title_bar: '1' }
    const sharing = { url: `${platform.url}/player/open` }
    platform.setRecord('open', videoJson({ player_settings, sharing, uri: { ...uri(), download_link: `${platform.url}/media/whole.mp4` } }))
    await page.context().grantPermissions(['clipboard-write', 'clipboard-read'])
    await page.goto(`${platform.url}/player/open`)
    await page.getByRole('button', { name: 'Copy the link' }).click()
    await waitFor(async () => (await page.locator('.badge').textContent()) === 'Link copied', { describe: 'the link to be copied' })
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(sharing.url)
    expect(await page.getByRole('link', { name: 'Download' }).getAttribute('href')).toBe(`${platform.url}/media/whole.mp4`)
    await takeScreenshot('player-buttons')
    platform.setRecord('plain', videoJson({ sharing }))
    await page.goto(`${platform.url}/player/plain`)
    await waitForMenu(page, 'quality')
    expect(await page.getByRole('button', { name: 'Copy the link' }).count()).toBe(0)
    expect(await page.getByRole('link', { name: 'Download' }).count()).toBe(0)
  }, 40_000)

  test.each([
    ['at most 500 kbit/s', { highest_quality_version: '500' }, 180],
    ['at least 600 kbit/s', { lowest_quality_version: '600' }, 360],
  ])(
    'only renditions of %s are played',
    async (_, player_settings, height) => {
      platform.setRecord('bound', videoJson({ player_settings }))
      await page.goto(`${platform.url}/player/bound?autoplay=1&muted=1`)
      await waitForPosition(2.5)
      expect(await page.locator('video').evaluate((video: HTMLVideoElement) => video.videoHeight)).toBe(height)
      expect(platform.requestedPaths.some((path) => path.startsWith(`/media/${540 - height}`))).toBe(false)
      expect(await page.locator('[data-menu=quality]').count()).toBe(0)
    },
    40_000,
  )

  test('a video that starts in high definition requests its best rendition first', async () => {
    platform.setRecord('sharp', videoJson({ hd: { allow: '1', auto: '1' } }))
    await page.goto(`${platform.url}/player/sharp?autoplay=1&muted=1`)
    await waitForPosition(0.5)
    expect(platform.requestedPaths.find((path) => path.endsWith('.m3u8') && !path.includes('master'))).toBe('/media/360.m3u8')
  }, 40_000)

  test('a password is requested until it is correct, and then the video plays', async () => {
    platform.setRecord('locked', videoJson({ player_settings: { password_protected: '1', show_title_bar: '1' } }))
    platform.setRecord('locked/access wrong/&', { code: 'password_wrong' }, 403)
    platform.setRecord('locked/access often', {}, 429)
    platform.setRecord('locked/access open sesame?', { token: 'opened', expires: Date.now() / 1_000 + 900 })
    await page.goto(`${platform.url}/player/locked`)
    await waitFor(async () => (await text())?.includes('requires a password'), { describe: 'the request for a password' })
    await takeScreenshot('player-password')
    expect(platform.requestedPaths.filter((path) => path.startsWith('/media'))).toEqual([])
    const field = page.getByLabel('Password')
    await field.fill('wrong/&')
    await page.getByRole('button', { name: 'Open' }).click()
    await waitFor(async () => (await text())?.includes('Wrong password'), { describe: 'the rejection message' })
    await field.fill('often')
    await field.press('Enter')
    await waitFor(async () => (await text())?.includes('Too many attempts'), { describe: 'the message about the limit' })
    await field.fill('open sesame?')
    await field.press('Enter')
    await waitForPosition(0.5)
    expect(await page.getByLabel('Password').count()).toBe(0)
    expect(platform.requestedPaths.filter((path) => path.includes('master')).every((path) => path.endsWith('?token=opened'))).toBe(true)
  }, 40_000)

  test('the storyboard and the download have the current token after the token of a password was renewed', async () => {
    const files = { storyboard: `${platform.url}/media/storyboard.vtt`, download_link: `${platform.url}/media/whole.mp4` }
    platform.setRecord('renewed', videoJson({ uri: { ...uri(), ...files }, player_settings: { password_protected: '1' } }))
    const expires = Date.now() / 1_000 + 900
    platform.setRecord('renewed/access k', { token: 'first', expires })
    // The exchange of a token contains no password.
    platform.setRecord('renewed/access undefined', { token: 'second', expires })
    await page.goto(`${platform.url}/player/renewed?muted=1`)
    await page.getByLabel('Password').fill('k')
    await page.getByLabel('Password').press('Enter')
    await waitForPosition(0.5)
    // The player does not wait for the next exchange if the browser reports a network.
    await page.evaluate(() => void window.dispatchEvent(new Event('online')))
    const download = page.locator('.row .download')
    const findTarget = async () => {
      await download.dispatchEvent('pointerdown')
      return download.getAttribute('href')
    }
    await waitFor(async () => (await findTarget())?.endsWith('/media/whole.mp4?token=second'), { describe: 'the current token' })
    await page.mouse.move(480, 200)
    const bar = await page.locator('.seek').boundingBox()
    await page.mouse.move((bar?.x ?? 0) + (bar?.width ?? 0) / 2, (bar?.y ?? 0) + 3)
    await waitFor(() => platform.requestedPaths.includes('/media/storyboard.vtt?token=second'), {
      describe: 'the request for the storyboard',
    })
    expect(platform.requestedPaths).not.toContain('/media/storyboard.vtt?token=first')
  }, 40_000)

  test('overlays are shown at their times, and their code is not executed', async () => {
    const evil = 'window.evil = true; document.title = "evil"; alert(1)'
    const overlay = (overrides: Record<string, unknown>) => ({ overlay_id: '1', link_javascript_code: evil, ...overrides })
    const overlays = [
      overlay({
        title: 'Buy <img src=x onerror="window.evil=true">',
        description: 'Now in <b>red</b>',
        show: { at_end: '0', during: { start: '00:01', end: '00:03' } },
        link_text: 'To the shop',
        link_url: 'https://shop.example/a',
        link_target: '_top',
      }),
      overlay({ title: 'Bad', show: { at_end: '1' }, link_text: 'Bad link', link_url: 'javascript:window.evil=true' }),
    ]
    platform.setRecord('cards', videoJson({ overlays, javascript_api: { onload: evil }, events_triggered_by_click: { click: evil } }))
    await page.goto(`${platform.url}/player/cards?autoplay=1&muted=1`)
    await waitFor(() => page.locator('.overlay').count(), { describe: 'the first card' })
    expect(await position()).toBeGreaterThanOrEqual(1)
    expect(await page.locator('.overlay h2').textContent()).toBe('Buy <img src=x onerror="window.evil=true">')
    const link = page.getByRole('link', { name: 'To the shop' })
    expect([await link.getAttribute('target'), await link.getAttribute('rel')]).toEqual(['_blank', 'noopener noreferrer'])
    await takeScreenshot('player-overlay')
    await waitFor(async () => (await page.locator('.overlay').count()) === 0, { describe: 'the card to disappear' })
    await page.locator('video').evaluate((video: HTMLVideoElement) => {
      video.currentTime = video.duration - 0.2
    })
    await waitFor(() => page.locator('.overlay').count(), { describe: 'the last card' })
    expect(await page.locator('.overlay').textContent()).toBe('Bad')
    expect(await page.locator('.overlay a').count()).toBe(0)
    await page.locator('.overlay').click()
    expect(await page.evaluate(() => 'evil' in window)).toBe(false)
    expect(consoleErrors).toEqual([])
  }, 40_000)

  test('slides are shown next to the video at their times if the URL requests them', async () => {
    platform.setRecord('talk', videoJson({ presentation_id: '9' }))
    const slide = (seconds: number) => ({ seconds, url: `${platform.url}/media/poster.jpg?${seconds}` })
    platform.setRecord('9', { slides: { '1': slide(0), '2': slide(3) } })
    await page.goto(`${platform.url}/player/talk?presentation=true`)
    const picture = page.locator('.slides > img')
    await waitFor(async () => (await picture.getAttribute('alt')) === 'Slide 1 of 2', { describe: 'the first slide' })
    await page.locator('video').evaluate((video: HTMLVideoElement) => {
      video.currentTime = 3.5
    })
    await waitFor(async () => (await picture.getAttribute('alt')) === 'Slide 2 of 2', { describe: 'the second slide' })
    await takeScreenshot('player-slides')
    const [frame, panel] = [await page.locator('.frame').boundingBox(), await page.locator('.slides').boundingBox()]
    expect([frame?.width, panel?.x, panel?.width, panel?.height]).toEqual([480, 480, 480, 540])
    await page.goto(`${platform.url}/player/talk`)
    await waitForMenu(page, 'quality')
    await page.getByRole('button', { name: 'Show the slides' }).click()
    expect(await page.locator('.slides').isVisible()).toBe(true)
  }, 40_000)
})
