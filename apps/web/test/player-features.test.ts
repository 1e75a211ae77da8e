import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { browserPath, chooseInMenu, extendTimeout, listChoices, waitFor } from '@vitascope/testing'
import { type PlayerFixture, readVideo, startPlayerFixture, waitForPosition } from './player-fixture.ts'

const describeInBrowser = browserPath() === undefined ? describe.skip : describe

describeInBrowser('features of the player', () => {
  let fixture: PlayerFixture
  beforeAll(async () => {
    fixture = await startPlayerFixture()
    const { platform, video } = fixture
    const chapters = ['Harbour', 'Cliffs', 'Arrival'].map((title, index) => ({ title, start: 2 * index }))
    platform.setRecord('v', video({ chapters }))
    platform.setRecord('silent', video({ uri: { hls: `${platform.url}/media/silent.m3u8`, http: {} } }))
    platform.setRecord('cards', video({ overlays: [{ title: 'Tickets', show: { during: { start: '00:00', end: '00:06' } } }] }))
    platform.setRecord('talk', video({ presentation_id: '9' }))
    const slide = (seconds: number) => ({ seconds, url: `${platform.url}/media/poster.jpg?${seconds}` })
    platform.setRecord('9', { slides: { '1': slide(0), '2': slide(2), '3': slide(4) } })
    const entry = (video_id: string) => video({ video_id, video_title: `Video ${video_id}` })
    for (const id of ['a', 'b']) platform.setRecord(id, entry(id))
    platform.setHead('list', '<meta name="vitascope:shows" content="playlist">')
    platform.setRecord('list', { title: 'All', open_in_playlist_view: '1', videos: ['a', 'b'].map(entry) })
  }, 60_000)
  afterAll(() => fixture?.stop())

  test('the settings menu has quality, speed, audio, captions and their style, and remembers the captions', async () => {
    const page = await fixture.openPage()
    await fixture.open(page, 'v')
    expect(await listChoices(page, 'quality')).toEqual(['360p', '180p', expect.stringMatching(/^✓ Auto/)])
    expect(await listChoices(page, 'speed')).toEqual(['0.25x', '0.5x', '0.75x', '✓ 1x', '1.25x', '1.5x', '1.75x', '2x'])
    expect(await listChoices(page, 'audio')).toEqual(['✓ English', 'Deutsch (audio description)'])
    expect(await listChoices(page, 'captions')).toEqual(['✓ Off', 'English', 'Deutsch', 'Français'])
    await chooseInMenu(page, 'speed', '1.5x')
    expect(await readVideo(page, (video) => video.playbackRate)).toBe(1.5)
    await chooseInMenu(page, 'captions', 'Deutsch')
    await page.locator('.settings-button').click()
    await page.getByRole('menuitem', { name: /Caption size/ }).click()
    await page.getByRole('menuitemradio', { name: 'Very large' }).click()
    const readCueSize = () => readVideo(page, (video) => getComputedStyle(video, '::cue').fontSize)
    const large = await readCueSize()
    await fixture.open(page, 'v')
    expect(await listChoices(page, 'captions')).toContain('✓ Deutsch')
    expect(await readCueSize()).toBe(large)
    expect(fixture.errors).toEqual([])
  }, 60_000)

  test('keyboard shortcuts that are common on video sites control the player, and ? lists them', async () => {
    const page = await fixture.openPage()
    await fixture.open(page, 'v')
    await waitFor(() => readVideo(page, (video) => video.duration > 5), { describe: 'the duration' })
    for (const [key, from, to] of [
      ['5', 2.9, 3.1],
      ['9', 5.3, 5.5],
      ['Home', 0, 0],
      ['l', 5.5, 6.1],
      ['j', 0, 0],
      ['End', 5.9, 6.1],
      ['0', 0, 0],
    ] as const) {
      await page.keyboard.press(key)
      await waitForPosition(page, from, to)
    }
    await page.keyboard.press('>')
    await page.keyboard.press('>')
    await page.keyboard.press('<')
    expect(await readVideo(page, (video) => video.playbackRate)).toBe(1.25)
    await page.keyboard.press('c')
    const shown = () => readVideo(page, (video) => [...video.textTracks].filter(({ mode }) => mode === 'showing').length)
    await waitFor(async () => (await shown()) === 1, { describe: 'the captions' })
    await page.keyboard.press('c')
    await waitFor(async () => (await shown()) === 0, { describe: 'the end of the captions' })
    await page.keyboard.press('?')
    const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    expect(await sheet.getByText('Back or forward 10 seconds').isVisible()).toBe(true)
    await page.keyboard.press('k')
    expect(await readVideo(page, (video) => video.paused)).toBe(true)
    await page.keyboard.press('Escape')
    expect(await sheet.isVisible()).toBe(false)
    expect(fixture.errors).toEqual([])
  }, 60_000)

  test('URL parameters and the fragment set start, end and loop, and a changed fragment seeks', async () => {
    const page = await fixture.openPage()
    await fixture.open(page, 'v', '?muted=1&start=2')
    await waitForPosition(page, 1.9, 2.1)
    await page.evaluate(() => {
      location.hash = 't=0:04'
    })
    await waitForPosition(page, 3.9, 4.1)
    await fixture.open(page, 'v', '?muted=1&autoplay=1#t=1,2')
    await waitFor(() => readVideo(page, (video) => video.paused && video.currentTime >= 2), { timeout: 20_000, describe: 'the end' })
    expect(await readVideo(page, (video) => video.currentTime)).toBeLessThan(2 + extendTimeout(600) / 1_000)
    await fixture.open(page, 'v', '?muted=1&autoplay=1&loop=1&start=1&end=2')
    await readVideo(page, (video) =>
      Object.assign(video, { seeks: 0 }).addEventListener('seeked', () => Object.assign(video, { seeks: 1 })),
    )
    await waitFor(() => readVideo(page, (video) => 'seeks' in video && video.seeks === 1 && video.currentTime < 1.9), {
      timeout: 20_000,
      describe: 'the loop',
    })
  }, 60_000)

  test('chapters divide the seek bar, and the current one is named', async () => {
    const page = await fixture.openPage()
    await fixture.open(page, 'v')
    await waitFor(() => readVideo(page, (video) => video.duration > 5), { describe: 'the duration' })
    expect(await page.locator('.chapter').textContent()).toBe('Harbour')
    await page.keyboard.press('5')
    await waitFor(async () => (await page.locator('.chapter').textContent()) === 'Cliffs', { describe: 'the second chapter' })
    const bar = await page.locator('.seek').boundingBox()
    await page.mouse.move((bar?.x ?? 0) + (bar?.width ?? 0) * 0.9, (bar?.y ?? 0) + 3)
    await waitFor(async () => (await page.locator('.peek').textContent())?.startsWith('Arrival'), {
      describe: 'the chapter of the preview',
    })
    expect(await page.locator('.seek #segments-clipping rect').count()).toBe(3)
  }, 60_000)

  test.each([
    ['de-AT', 'de', 'Untertitel', 'ltr'],
    ['ja', 'ja', '字幕', 'ltr'],
    ['nl', 'nl', 'Ondertiteling', 'ltr'],
    ['ar', 'en', 'Captions', 'rtl'],
    ['xx', 'en', 'Captions', 'ltr'],
  ])(
    'the texts are in the language of the browser, or in English if it is not translated, and keep its direction: %s',
    async (locale, language, captions, direction) => {
      const page = await fixture.openPage({ locale })
      await fixture.open(page, 'v')
      expect(await page.evaluate(() => [document.documentElement.lang, document.documentElement.dir])).toEqual([language, direction])
      expect((await page.locator('[data-menu=captions]').textContent())?.trim()).toContain(captions)
      await page.goto(`${fixture.platform.url}/player/missing`)
      await page.locator('.card h1').waitFor()
      expect(await page.locator('.card h1').textContent()).not.toBe('')
    },
  )

  test('the parameter lang overrides the language of the browser, and a video without audio has no volume control', async () => {
    const page = await fixture.openPage({ locale: 'de' })
    await page.goto(`${fixture.platform.url}/player/missing?lang=fr`)
    await page.getByText('Cette vidéo n’est pas disponible').waitFor()
    await fixture.open(page, 'v')
    expect(await page.locator('media-mute-button').isVisible()).toBe(true)
    await page.goto(`${fixture.platform.url}/player/silent`)
    await page.locator('[data-menu=quality]').waitFor({ state: 'attached' })
    await waitFor(async () => !(await page.locator('media-mute-button').isVisible()), { describe: 'the volume control to disappear' })
  })

  test('a card can be closed, and slides can be stepped through, chosen and hidden', async () => {
    const page = await fixture.openPage()
    await fixture.open(page, 'cards')
    await page.locator('.overlay').getByRole('button', { name: 'Close' }).click()
    expect(await page.locator('.overlay').count()).toBe(0)
    await fixture.open(page, 'talk', '?muted=1&presentation=1')
    await page.getByRole('button', { name: 'Next slide' }).click()
    await waitForPosition(page, 2, 2)
    await page.getByRole('button', { name: 'Slide 3 of 3' }).click()
    await waitForPosition(page, 4, 4)
    await waitFor(async () => (await page.locator('.counter').textContent()) === '3 / 3', { describe: 'the third slide' })
    expect(await page.getByRole('button', { name: 'Next slide' }).getAttribute('aria-disabled')).toBe('true')
    await page.getByRole('button', { name: 'Previous slide' }).click()
    await waitForPosition(page, 2, 2)
    await page.getByRole('button', { name: 'Hide the slides' }).click()
    expect(await page.locator('.slides').isVisible()).toBe(false)
    expect(fixture.errors).toEqual([])
  }, 60_000)

  test('a playlist plays its next video only if continuing is on, and the setting is stored', async () => {
    const page = await fixture.openPage()
    const playToEnd = () =>
      readVideo(page, (video) => {
        video.currentTime = video.duration - 0.2
        void video.play()
      })
    await fixture.open(page, 'list')
    await page.getByRole('button', { name: 'Continue automatically' }).click()
    await playToEnd()
    await waitFor(() => readVideo(page, (video) => video.ended), { timeout: 20_000, describe: 'the end' })
    expect(await page.title()).toBe('Video a')
    await fixture.open(page, 'list')
    const button = page.getByRole('button', { name: 'Continue automatically' })
    expect(await button.getAttribute('aria-pressed')).toBe('false')
    await button.click()
    await playToEnd()
    await waitFor(async () => (await page.title()) === 'Video b', { timeout: 20_000, describe: 'the next video' })
  }, 60_000)
})
