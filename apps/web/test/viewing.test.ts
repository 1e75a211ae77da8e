import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { findFfmpeg } from '@vitascope/media'
import { browserArguments, browserPath, chooseInMenu, extendTimeout, listChoices, waitFor, waitForMenu } from '@vitascope/testing'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { createMedia, startTestPlatform } from './stand-in-platform.ts'

const browserFile = browserPath()
const describeInBrowser = browserFile === undefined ? describe.skip : describe
const languages = ['en', 'de', 'fr', 'nl', 'es', 'it', 'pt', 'pl']
const longText = 'Words of an owner who has much to say about it. '.repeat(10)

/** Tests the player with the keyboard, with touch and in small sizes. */
describeInBrowser('viewing', () => {
  const media = mkdtempSync(join(tmpdir(), 'vitascope-viewing-'))
  let platform: Awaited<ReturnType<typeof startTestPlatform>>
  let browser: Browser
  let page: Page
  const consoleErrors: string[] = []

  beforeAll(async () => {
    createMedia((await findFfmpeg({ path: process.env['VITASCOPE_FFMPEG'] })).ffmpeg, media)
    addCaptions(media)
    platform = await startTestPlatform(media)
    browser = await chromium.launch({ executablePath: browserFile ?? '', args: [...browserArguments] })
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await platform?.stop()
    rmSync(media, { recursive: true, force: true })
  })
  const openNewPage = async (options: BrowserContextOptions = {}) => {
    for (const context of browser.contexts()) await context.close()
    page = await (await browser.newContext({ viewport: { width: 960, height: 540 }, ...options })).newPage()
    consoleErrors.length = 0
    platform.requestedPaths.length = 0
    page.on('console', (message) => message.type() === 'error' && consoleErrors.push(message.text()))
    page.on('pageerror', (error) => consoleErrors.push(error.message))
  }
  beforeEach(() => openNewPage())

  const videoJson = (overrides: Record<string, unknown> = {}) => ({
    video_title: 'Launch',
    uri: { hls: `${platform.url}/media/captioned.m3u8`, poster_frame: `${platform.url}/media/poster.jpg`, http: {} },
    status: { status: 'ok', progress: 100, code: 2000 },
    ...overrides,
  })
  const fullVideoJson = () => ({
    ...videoJson({ player_settings: { allow_sharing: '1' }, sharing: { url: `${platform.url}/player/v` } }),
    uri: { ...videoJson().uri, download_link: `${platform.url}/media/whole.mp4` },
  })
  const evaluateVideo = <Value>(read: (video: HTMLVideoElement) => Value) => page.locator('video').evaluate(read)
  const readPaused = () => evaluateVideo((video) => video.paused)
  const waitForPaused = (isPaused: boolean) => waitFor(async () => (await readPaused()) === isPaused, { describe: `paused: ${isPaused}` })
  const openVideo = async (id: string, query = '') => {
    await page.goto(`${platform.url}/player/${id}${query}`)
    await waitForMenu(page, 'captions')
  }
  const waitForPlayback = () =>
    waitFor(() => evaluateVideo((video) => !video.paused && video.currentTime > 0.1), { timeout: 20_000, describe: 'the video to play' })
  const takeScreenshot = async (name: string) => {
    const folder = process.env['VITASCOPE_SCREENSHOTS']
    if (folder) await page.screenshot({ path: join(folder, `viewing-${name}.png`) })
  }
  /** Returns the parts of the page that lie outside of the visible area. */
  const findClippedParts = (...selectors: string[]) =>
    page.evaluate((selectors) => {
      const root = document.querySelector('vitascope-player')?.shadowRoot
      return selectors.filter((selector) =>
        [...(root?.querySelectorAll(selector) ?? [])].some((element) => {
          const { left, top, right, bottom, width } = element.getBoundingClientRect()
          return width > 0 && (left < 0 || top < 0 || right > innerWidth + 0.5 || bottom > innerHeight + 0.5)
        }),
      )
    }, selectors)

  test('keys control the player without focus on a control, and a focused control handles its own keys', async () => {
    platform.setRecord('v', fullVideoJson())
    await openVideo('v', '?muted=1')
    await page.keyboard.press('k')
    await waitForPlayback()
    await page.keyboard.press('Space')
    await waitForPaused(true)
    await evaluateVideo((video) => {
      video.currentTime = 0
    })
    await page.keyboard.press('ArrowRight')
    expect(Math.round(await evaluateVideo((video) => video.currentTime))).toBe(5)
    await page.keyboard.press('m')
    expect(await evaluateVideo((video) => video.muted)).toBe(false)
    await page.keyboard.press('ArrowDown')
    expect(await evaluateVideo((video) => video.volume)).toBeCloseTo(0.95)
    await page.locator('.seek input').focus()
    await page.keyboard.press('ArrowLeft')
    expect(Math.round(await evaluateVideo((video) => video.currentTime))).toBe(0)
    await page.keyboard.press('ArrowUp')
    expect(Math.round(await evaluateVideo((video) => video.currentTime))).toBe(5)
    expect(await evaluateVideo((video) => video.volume)).toBeCloseTo(0.95)
    // A focused button handles the space key itself.
    await page.locator('media-mute-button').focus()
    await page.keyboard.press('Space')
    expect([await evaluateVideo((video) => video.muted), await readPaused()]).toEqual([true, true])
    expect(consoleErrors).toEqual([])
  }, 60_000)

  test('the Tab key reaches the controls of a page that was just opened', async () => {
    platform.setRecord('v', fullVideoJson())
    await openVideo('v')
    const reached: string[] = []
    for (let nth = 0; nth < 12; nth++) {
      await page.keyboard.press('Tab')
      reached.push(await page.evaluate(() => document.querySelector('vitascope-player')?.shadowRoot?.activeElement?.className ?? ''))
    }
    for (const name of ['start', 'seek', 'play-pause', 'settings-button']) expect(reached).toContain(name)
  }, 60_000)

  test('the start button passes the focus to the play button, the controls hide, and the start button returns at the end', async () => {
    platform.setRecord('v', videoJson())
    await openVideo('v', '?muted=1')
    await page.locator('.start').focus()
    await page.keyboard.press('Enter')
    await waitForPlayback()
    expect(await page.locator('.row .play-pause').evaluate((button) => button.matches(':focus'))).toBe(true)
    await waitFor(() => page.locator('.controls').evaluate((bar) => getComputedStyle(bar).opacity === '0'), {
      timeout: 20_000,
      describe: 'the controls to hide',
    })
    await evaluateVideo((video) => {
      video.currentTime = video.duration - 0.3
    })
    await page.locator('.start').waitFor({ timeout: extendTimeout(20_000) })
    expect((await page.locator('.time slot').textContent())?.replaceAll('\u00a0', ' ')).toBe('0:06 / 0:06')
    expect(await page.locator('.start').getAttribute('aria-label')).toBe('Replay')
    await page.locator('.start').click()
    await waitForPlayback()
  }, 60_000)

  test('after a correct password the focus is on the player', async () => {
    platform.setRecord('locked', videoJson({ player_settings: { password_protected: '1' } }))
    platform.setRecord('locked/access k m', { token: 'opened', expires: Date.now() / 1_000 + 900 })
    await page.goto(`${platform.url}/player/locked?muted=1`)
    await page.getByLabel('Password').pressSequentially('k m')
    await page.keyboard.press('Enter')
    await waitForPlayback()
    expect(await page.locator('.row .play-pause').evaluate((button) => button.matches(':focus'))).toBe(true)
    await page.keyboard.press('Space')
    await waitForPaused(true)
  }, 60_000)

  test('a double click opens full screen without pausing the video', async () => {
    platform.setRecord('v', videoJson())
    await openVideo('v', '?muted=1')
    await page.keyboard.press('k')
    await waitForPlayback()
    await evaluateVideo((video) => {
      const changes: string[] = []
      for (const event of ['play', 'pause']) video.addEventListener(event, () => changes.push(event))
      Object.assign(video, { changes })
    })
    await page.mouse.dblclick(400, 200)
    await waitFor(() => page.evaluate(() => document.fullscreenElement !== null), { describe: 'full screen' })
    expect(await evaluateVideo((video) => 'changes' in video && video.changes)).toEqual([])
    await page.keyboard.press('f')
    await waitFor(() => page.evaluate(() => document.fullscreenElement === null), { describe: 'the end of full screen' })
    await page.mouse.click(400, 200)
    await waitForPaused(true)
  }, 60_000)

  test('a tap shows and hides the controls without pausing, and a double tap at a side seeks', async () => {
    await openNewPage({ hasTouch: true, isMobile: true, viewport: { width: 390, height: 844 } })
    platform.setRecord('v', videoJson())
    await openVideo('v', '?muted=1')
    const waitForControls = (isShown: boolean) =>
      waitFor(async () => (await page.locator('.stage').getAttribute('userinactive')) === (isShown ? null : ''), {
        timeout: 20_000,
        describe: `controls: ${isShown}`,
      })
    await page.locator('.start').tap()
    await waitForPlayback()
    await waitForControls(false)
    await page.touchscreen.tap(195, 300)
    await waitForControls(true)
    expect(await readPaused()).toBe(false)
    await page.locator('.start').tap()
    await waitForPaused(true)
    await evaluateVideo((video) => {
      video.currentTime = 0
    })
    for (const _ of [1, 2]) await page.touchscreen.tap(370, 420)
    await waitFor(() => evaluateVideo((video) => video.currentTime > 5.5), { describe: 'the position near the end' })
    for (const _ of [1, 2]) await page.touchscreen.tap(20, 420)
    await waitFor(() => evaluateVideo((video) => video.currentTime < 0.5), { describe: 'the position at the start' })
    expect(await readPaused()).toBe(true)
  }, 90_000)

  test.each([1280, 390, 320, 272, 200])(
    'at a width of %i px full screen is available and nothing overflows',
    async (width) => {
      platform.setRecord('v', fullVideoJson())
      await page.setViewportSize({ width, height: Math.max(200, Math.round((width * 9) / 16)) })
      await openVideo('v')
      expect(await findClippedParts('.row > *')).toEqual([])
      for (const name of ['media-fullscreen-button', '.settings-button', '.row .play-pause'])
        expect(await page.locator(name).isVisible()).toBe(true)
      const [stage, start] = [await page.locator('.stage').boundingBox(), await page.locator('.start').boundingBox()]
      const toMiddle = (box: typeof stage) => (box?.y ?? 0) + (box?.height ?? 0) / 2
      expect(Math.abs(toMiddle(stage) - toMiddle(start))).toBeLessThan(2)
      await takeScreenshot(`width-${width}`)
    },
    60_000,
  )

  test.each([
    [480, 270],
    [360, 203],
  ])(
    'at %i × %i px the menu of eight captions fits, and a card covers no caption and shows its link',
    async (width, height) => {
      const card = { title: 'Tickets for it', description: longText, link_text: 'To the shop', link_url: 'https://shop.example/' }
      platform.setRecord('v', { ...fullVideoJson(), overlays: [{ ...card, show: { during: { start: '00:00', end: '00:06' } } }] })
      await page.setViewportSize({ width, height })
      await openVideo('v')
      await chooseInMenu(page, 'captions', 'en')
      expect(await listChoices(page, 'captions')).toHaveLength(9)
      await page.locator('.settings-button').click()
      await page.locator('[data-menu=captions]').click()
      await page.locator('[data-menu=captions] [role=menuitemradio]').first().waitFor()
      await waitFor(async () => (await findClippedParts('.settings', '.overlay', '.row > *')).length === 0, {
        describe: 'the menu, the card and the buttons to fit',
      })
      await takeScreenshot(`captions-${width}`)
      await page.keyboard.press('Escape')
      await page.keyboard.press('Escape')
      await takeScreenshot(`card-${width}`)
      const [frame, link] = [
        await page.locator('.overlay').boundingBox(),
        await page.getByRole('link', { name: 'To the shop' }).boundingBox(),
      ]
      expect((link?.y ?? 0) + (link?.height ?? 0)).toBeLessThanOrEqual((frame?.y ?? 0) + (frame?.height ?? 0))
      expect((frame?.y ?? 0) + (frame?.height ?? 0)).toBeLessThanOrEqual(height * 0.71)
    },
    60_000,
  )

  test.each([
    [480, 270],
    [272, 153],
  ])(
    'at %i × %i px long messages can be scrolled to the end',
    async (width, height) => {
      await page.setViewportSize({ width, height })
      platform.setRecord('gone', { code: 'video_expired', detail: longText }, 404)
      platform.setRecord('closed', { ...videoJson({ video_title: longText }), security: { token_required_platform: true } })
      platform.setRecord('locked', videoJson({ video_title: longText, player_settings: { password_protected: '1' } }))
      for (const id of ['gone', 'closed', 'locked']) {
        await page.goto(`${platform.url}/player/${id}`)
        await waitFor(async () => /Words/.test((await page.locator('.notice').textContent()) ?? ''), { describe: 'the card' })
        await takeScreenshot(`${id}-${width}`)
        expect(await findClippedParts('.card')).toEqual([])
        const last = page.locator(id === 'locked' ? '.password' : '.notice p')
        await last.evaluate((element) => element.scrollIntoView({ block: 'end' }))
        expect((await last.boundingBox())?.y).toBeLessThan(height)
        const bottom = await last.evaluate((element) => element.getBoundingClientRect().bottom)
        expect(bottom).toBeLessThanOrEqual(height)
      }
    },
    60_000,
  )

  test('messages and the page title name the video, or state that it is not available', async () => {
    platform.setRecord('closed', { ...videoJson(), security: { token_required_platform: true } })
    platform.setRecord('broken', videoJson({ uri: {}, status: { status: 'failed', progress: 7, code: 4001 } }))
    platform.setRecord('missing', { code: 'video_not_found', detail: 'no video 6009' }, 404)
    const readHeadings = async (id: string, words: string) => {
      await page.goto(`${platform.url}/player/${id}`)
      await waitFor(async () => (await page.locator('.notice').textContent())?.includes(words), { describe: words })
      return [await page.title(), await page.locator('.notice h1').textContent()]
    }
    expect(await readHeadings('closed', 'This video is protected. It requires a personal link.')).toEqual(['Launch', 'Launch'])
    expect(await readHeadings('broken', 'This video cannot be shown. Its source could not be reached.')).toEqual(['Launch', 'Launch'])
    expect(await readHeadings('missing', 'It may have been removed')).toEqual(['Not available', 'This video is not available'])
    expect(await page.locator('.notice').textContent()).not.toContain('6009')
  }, 60_000)

  test('a page with known contents sends no requests that return 404', async () => {
    platform.setHead('list', '<meta name="vitascope:shows" content="playlist">')
    platform.setRecord('list', { title: 'All', videos: [] })
    await page.goto(`${platform.url}/player/list`)
    await page.getByText('This playlist has no videos.').waitFor({ timeout: extendTimeout(20_000) })
    await takeScreenshot('empty-list')
    expect(platform.requestedPaths.filter((path) => path.startsWith('/v2'))).toEqual(['/v2/playlist/list'])
    platform.requestedPaths.length = 0
    platform.setHead('over', '<meta name="vitascope:shows" content="none"><meta name="vitascope:expired" content="The sale is over.">')
    await page.goto(`${platform.url}/player/over`)
    await page.getByText('The sale is over.').waitFor({ timeout: extendTimeout(20_000) })
    platform.setHead('never', '<meta name="vitascope:shows" content="none">')
    await page.goto(`${platform.url}/player/never`)
    await page.getByText('This video is not available').waitFor({ timeout: extendTimeout(20_000) })
    expect(platform.requestedPaths.filter((path) => path.startsWith('/v2'))).toEqual([])
    expect(consoleErrors).toEqual([])
  }, 60_000)

  test('a playlist keeps the choice of captions, and the page title is that of the current video', async () => {
    const entry = (video_id: string, video_title: string) => ({ ...videoJson(), video_id, video_title, duration: '6.02' })
    const entries = [entry('a', 'First'), entry('b', 'Second'), { ...entry('c', 'Third'), security: { token_required_platform: true } }]
    platform.setHead('list', '<meta name="vitascope:shows" content="playlist">')
    platform.setRecord('list', { title: 'All', open_in_playlist_view: '1', videos: entries })
    for (const video of entries) platform.setRecord(video.video_id, video)
    await openVideo('list', '?muted=1')
    const listShownLanguages = () =>
      evaluateVideo((video) => [...video.textTracks].filter(({ mode }) => mode === 'showing').map(({ language }) => language))
    await chooseInMenu(page, 'captions', 'de')
    await waitFor(async () => (await listShownLanguages()).join() === 'de', { describe: 'the German captions' })
    await page.keyboard.press('Shift+N')
    await waitFor(async () => (await page.title()) === 'Second', { describe: 'the second video' })
    await waitFor(async () => (await listShownLanguages()).join() === 'de', {
      timeout: 20_000,
      describe: 'the German captions of the second video',
    })
    await waitForPlayback()
    await page.keyboard.press('Shift+N')
    await waitFor(async () => (await page.title()) === 'Third', { describe: 'the third video' })
    await page.locator('.notice').waitFor({ timeout: extendTimeout(60_000) })
    const notice = (await page.locator('.notice h1, .notice p').allTextContents()).join(': ')
    expect(notice).toMatch(/^Third: .*It requires a personal link/)
    expect(consoleErrors).toEqual([])
  }, 120_000)

  test('a preview of the video is shown above the seek bar for pointer, touch and keyboard', async () => {
    const tile = (second: number) => `00:00:0${second}.000 --> 00:00:0${second + 2}.000\nposter.jpg#xywh=${80 * second},0,160,90\n`
    writeFileSync(join(media, 'storyboard.vtt'), `WEBVTT\n\n${[0, 2, 4].map(tile).join('\n')}`)
    platform.setRecord('v', { ...videoJson(), uri: { ...videoJson().uri, storyboard: `${platform.url}/media/storyboard.vtt` } })
    const waitForTile = async (position: string, words: RegExp) => {
      await waitFor(
        () =>
          page
            .locator('.peek > div')
            .evaluate((element: HTMLElement, expected) => !element.hidden && element.style.backgroundPosition === expected, position),
        { timeout: 10_000, describe: `the tile at ${position}` },
      )
      expect(await page.locator('.peek').textContent()).toMatch(words)
    }
    for (const hasTouch of [false, true]) {
      await openNewPage({ hasTouch, viewport: { width: 640, height: 360 } })
      await openVideo('v', '?token=to.ken')
      await waitFor(() => evaluateVideo((video) => video.duration > 5), { describe: 'the duration' })
      expect(platform.requestedPaths.filter((path) => path.includes('storyboard'))).toEqual([])
      const { x = 0, y = 0, width = 0 } = (await page.locator('.seek').boundingBox()) ?? {}
      if (hasTouch) await page.touchscreen.tap(x + width * 0.95, y + 2)
      await page.mouse.move(x + width * 0.5, y + 8)
      await waitForTile('-160px 0px', /^0:0[23]$/)
      expect(platform.requestedPaths).toContain('/media/storyboard.vtt?token=to.ken')
      await takeScreenshot(`peek-${hasTouch}`)
      await page.mouse.move(x + width * 0.995, y + 2)
      await waitForTile('-320px 0px', /^0:0[56]$/)
      expect(await findClippedParts('.peek')).toEqual([])
      await page.mouse.move(x + width / 2, y - 60)
      await waitFor(() => page.locator('.peek').isHidden(), { describe: 'the preview to disappear' })
    }
    await evaluateVideo((video) => {
      video.currentTime = 0
    })
    await waitFor(() => evaluateVideo((video) => !video.seeking), { describe: 'the seek to the start' })
    await page.keyboard.press('ArrowRight')
    await waitForTile('-320px 0px', /^0:05$/)
    await waitFor(() => page.locator('.peek').isHidden(), { timeout: 10_000, describe: 'the preview to disappear after a while' })
    expect(await page.locator('.seek input').getAttribute('aria-valuetext')).toMatch(/^[45] seconds of 6 seconds$/)
    expect(consoleErrors).toEqual([])
  }, 60_000)

  test('a theme also sets the colours of sliders and focus rings', async () => {
    platform.setRecord('v', videoJson({ theme: { icon_colour: '#ffcc00' } }))
    await openVideo('v')
    const readStyle = (selector: string, name: string) =>
      page.locator(selector).evaluate((element, property) => getComputedStyle(element).getPropertyValue(property), name)
    expect(await readStyle('.seek #progress', 'background-color')).toBe('rgb(255, 204, 0)')
    await page.keyboard.press('Tab')
    await page.locator('.row .play-pause').focus()
    expect(await readStyle('.row .play-pause', 'box-shadow')).toContain('rgb(255, 204, 0)')
  }, 60_000)
})

/** Creates `captioned.m3u8`: the same video with one track per language. */
function addCaptions(folder: string): void {
  const cue = 'WEBVTT\n\n00:00.000 --> 00:06.000\nGood evening, this is a line of captions\nand a second one\n'
  writeFileSync(join(folder, 'cues.vtt'), cue)
  writeFileSync(
    join(folder, 'cues.m3u8'),
    '#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:6\n#EXT-X-PLAYLIST-TYPE:VOD\n#EXTINF:6.0,\ncues.vtt\n#EXT-X-ENDLIST\n',
  )
  const tracks = languages.map(
    (language) => `#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="captions",NAME="${language}",LANGUAGE="${language}",DEFAULT=NO,URI="cues.m3u8"\n`,
  )
  const master = readFileSync(join(folder, 'master.m3u8'), 'utf8').replace('#EXT-X-VERSION:7\n', `#EXT-X-VERSION:7\n${tracks.join('')}`)
  writeFileSync(join(folder, 'captioned.m3u8'), master.replaceAll(',CODECS=', ',SUBTITLES="captions",CODECS='))
}
