import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { findFfmpeg } from '@vitascope/media'
import { browserArguments, browserPath, extendTimeout, waitFor } from '@vitascope/testing'
import { type Browser, chromium, type Page } from 'playwright-core'
import { screenshots } from './outage-run.ts'
import { createMedia, startTestPlatform } from './stand-in-platform.ts'

const browserFile = browserPath()
const describeInBrowser = browserFile === undefined ? describe.skip : describe

describeInBrowser('a page that embeds the player', () => {
  const media = mkdtempSync(join(tmpdir(), 'vitascope-host-page-'))
  let platform: Awaited<ReturnType<typeof startTestPlatform>>
  let otherSite: Awaited<ReturnType<typeof startTestPlatform>>
  let browser: Browser

  beforeAll(async () => {
    createMedia((await findFfmpeg({ path: process.env['VITASCOPE_FFMPEG'] })).ffmpeg, media)
    platform = await startTestPlatform(media)
    otherSite = await startTestPlatform(media)
    browser = await chromium.launch({ executablePath: browserFile ?? '', args: [...browserArguments] })
    const video = (id: string, overrides: Record<string, unknown> = {}) => {
      const record = {
        ...{ video_id: id, video_title: id, duration: '6.02', status: { status: 'ok', progress: 100, code: 2000 }, presentation_id: 'p' },
        ...{ uri: { hls: `${platform.url}/media/master.m3u8`, http: {} }, ...overrides },
      }
      platform.setRecord(id, record)
      return record
    }
    const videos = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((id) => video(id))
    platform.setHead('list', '<meta name="vitascope:shows" content="playlist">')
    platform.setRecord('list', { title: 'All', open_in_playlist_view: '1', videos })
    platform.setRecord('p', { slides: { '1': { seconds: 0, url: `${platform.url}/media/poster.jpg` } } })
    video('locked', { player_settings: { password_protected: '1' } })
    platform.setRecord('locked/access wrong', { code: 'password_wrong' }, 403)
    platform.setRecord('locked/access open', { token: 'opened', expires: Date.now() / 1_000 + 900 })
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await platform?.stop()
    await otherSite?.stop()
    rmSync(media, { recursive: true, force: true })
  })

  const tall = '<p style="height:1500px">Much to read</p>'
  /** A tall page whose text field has the focus. The player is below the visible area. */
  const host = (code: string) =>
    `<!doctype html><title>News</title><input id="search" autofocus>${tall}${code}${tall}<script>document.getElementById('search').focus()</script>`
  const frame = (path: string) =>
    `<iframe src="${platform.url}/player/${path}" width="640" allow="autoplay" style="border:0;max-width:100%;aspect-ratio:640/360"></iframe>`
  const script = (id: string) => `<script async src="${platform.url}/player/embed.js" data-id="${id}" data-width="640"></script>`
  const open = async (site: 'own' | 'another', code: string) => {
    const page = await (await browser.newContext({ viewport: { width: 1000, height: 800 } })).newPage()
    const server = site === 'own' ? platform : otherSite
    // Another host name of the same machine is another site for the browser.
    server.addPage('/host', host(code))
    await page.goto(`${site === 'own' ? platform.url : otherSite.url.replace('127.0.0.1', 'localhost')}/host`)
    return page
  }
  const state = (page: Page) => page.evaluate(() => [window.scrollY, document.activeElement?.id])
  const codes: readonly [name: string, code: () => string, shown: string][] = [
    ['a playlist', () => frame('list?autoplay=1&muted=1'), '.entry[aria-current]'],
    ['a video with a password', () => frame('locked'), '.password input'],
    ['a presentation', () => frame('a?presentation=1&autoplay=1&muted=1'), '.slides img'],
    ['a video', () => frame('a?autoplay=1&muted=1'), '[data-menu=quality]'],
    ['a playlist of the embed script', () => script('list'), '.entry[aria-current]'],
  ]

  for (const site of ['own', 'another'] as const) {
    test.each(codes)(
      `of ${site === 'own' ? 'the same' : 'another'} origin keeps its scroll position and its focus with %s`,
      async (_, code, shown) => {
        const page = await open(site, code())
        // The lazy frame is loaded because it is near the visible area, but it is not visible.
        const part = page.frameLocator('iframe').locator(shown).first()
        await part.waitFor({ state: 'attached', timeout: extendTimeout(30_000) })
        if (shown.includes('entry')) {
          // The next video starts automatically.
          const video = page.frameLocator('iframe').locator('video')
          await video.evaluate((element: HTMLVideoElement) => void element.play().catch(() => {}))
          await waitFor(() => video.evaluate((element: HTMLVideoElement) => element.duration > 5), {
            timeout: 20_000,
            describe: 'the duration',
          })
          await video.evaluate((element: HTMLVideoElement) => {
            element.currentTime = element.duration - 0.2
          })
          await waitFor(async () => (await page.frameLocator('iframe').locator('.entry').nth(1).getAttribute('aria-current')) === 'true', {
            timeout: 20_000,
            describe: 'the second video',
          })
        }
        await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))
        expect(await state(page)).toEqual([0, 'search'])
        if (shown.includes('password')) {
          const scrollToFrame = () => page.evaluate(() => document.querySelector('iframe')?.scrollIntoView({ block: 'center' }))
          await screenshots(page, `frame-password-${site}`, scrollToFrame)
        }
        await page.context().close()
      },
      60_000,
    )
  }

  test('the list of a playlist scrolls to the entry that plays', async () => {
    const page = await (await browser.newContext({ viewport: { width: 640, height: 360 } })).newPage()
    await page.goto(`${platform.url}/player/list?muted=1`)
    await page.locator('.entry').last().waitFor()
    const measure = async () => {
      const [list, entry] = [await page.locator('.list').boundingBox(), await page.locator('.entry').last().boundingBox()]
      if (!list || !entry) throw new Error('the list or its last entry is not rendered')
      return { listTop: list.y, listBottom: list.y + list.height, entryTop: entry.y, entryBottom: entry.y + entry.height }
    }
    const before = await measure()
    expect(before.entryBottom).toBeGreaterThan(before.listBottom + 1)
    for (let press = 0; press < 7; press++) await page.keyboard.press('Shift+N')
    expect(await page.locator('.entry').last().getAttribute('aria-current')).toBe('true')
    const { listTop, listBottom, entryTop, entryBottom } = await measure()
    expect(entryTop).toBeGreaterThanOrEqual(listTop - 1)
    expect(entryBottom).toBeLessThanOrEqual(listBottom + 1)
    await page.context().close()
  }, 60_000)

  test('a password can be typed after a click into the frame, also after a wrong one', async () => {
    const page = await open('another', frame('locked'))
    const inside = page.frameLocator('iframe')
    await inside.getByLabel('Password').click()
    await page.keyboard.type('wrong')
    await page.keyboard.press('Enter')
    await inside.getByText('Wrong password').waitFor({ timeout: extendTimeout(20_000) })
    await page.keyboard.type('open')
    await page.keyboard.press('Enter')
    await waitFor(() => inside.locator('video').evaluate((video: HTMLVideoElement) => video.currentTime > 0.1), {
      timeout: 20_000,
      describe: 'the video to play',
    })
    await page.context().close()
  }, 60_000)
})
