import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { extendTimeout, firefoxPath, waitFor } from '@vitascope/testing'
import puppeteer, { type Browser, type Page } from 'puppeteer-core'
import { makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { startThirdPartySite, type ThirdPartySite } from './support/third-party-site.ts'
import { createTenant, type Tenant, type VideoRecord, waitUntilSettled } from './support/video-steps.ts'

const browserFile = firefoxPath()
const SCREENSHOTS = process.env['VITASCOPE_SCREENSHOTS']
// `npm test` installs Firefox if it can, and prints a message otherwise.
const describeInFirefox = browserFile === undefined ? describe.skip : describe

/** Returns a selector that also finds elements in shadow roots. */
const deep = (selector: string) => `>>> ${selector}`
const SPEEDS = '>>> media-playback-rate-menu >>> [role=menuitemradio]'

let folder: string
let platform: TestPlatform
let site: ThirdPartySite
let tenant: Tenant
let browser: Browser
let page: Page
let pageErrors: string[]

/** The tests share the video that the first one uploads. */
let videoId = ''

describeInFirefox('in Firefox', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sources-'))
    await makeSource(folder, 'small.mp4')
    platform = await startTestPlatform()
    site = await startThirdPartySite()
    tenant = await createTenant(platform.system)
    browser = await puppeteer.launch({
      ...{ browser: 'firefox', executablePath: browserFile ?? '' },
      extraPrefsFirefox: { 'media.autoplay.default': 0 },
    })
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await platform?.remove()
    await site?.close()
    await rm(folder, { recursive: true, force: true })
  })
  beforeEach(async () => {
    page = await browser.newPage()
    page.setDefaultTimeout(extendTimeout(30_000))
    await page.setViewport({ width: 1_000, height: 640 })
    pageErrors = []
    page.on('pageerror', (error) => pageErrors.push(String(error)))
  })

  const screenshot = async (name: string) => {
    if (SCREENSHOTS === undefined) return
    await mkdir(SCREENSHOTS, { recursive: true })
    await page.screenshot({ path: join(SCREENSHOTS, `firefox-${name}.png`) })
  }
  const find = async (selector: string) => {
    const element = await page.waitForSelector(deep(selector), { visible: true, timeout: extendTimeout(30_000) })
    if (!element) throw new Error(`there is no ${selector}`)
    return element
  }
  const readVideo = (frame: Pick<Page, '$eval'> = page) =>
    frame.$eval(deep('video'), (element) => {
      // The tests do not have the types of the DOM.
      const { currentTime, paused, muted, playbackRate } = element as unknown as Record<'currentTime' | 'playbackRate', number> &
        Record<'paused' | 'muted', boolean>
      return { currentTime, paused, muted, playbackRate }
    })
  const waitForVideo = (describe: string, isReached: (video: Awaited<ReturnType<typeof readVideo>>) => boolean) =>
    waitFor(async () => isReached(await readVideo()), { timeout: 30_000, describe })

  test('the upload page uploads a file, which plays', async () => {
    await page.goto(`${platform.url}/upload`)
    await (await find('input[type=password]')).type(tenant.key)
    await page.keyboard.press('Enter')
    await page.waitForSelector('::-p-text(Access key accepted)', { visible: true })
    const field = await page.waitForSelector(deep('input[type=file]'))
    await field?.uploadFile(join(folder, 'small.mp4'))
    await page.waitForSelector('::-p-text(Ready to watch.)', { visible: true, timeout: extendTimeout(90_000) })
    await screenshot('upload')
    const { body } = await platform.withKey(tenant.key).get<VideoRecord[]>(`/video/organisation/${tenant.organisationId}`)
    expect(body).toHaveLength(1)
    videoId = (await waitUntilSettled(platform.withKey(tenant.key), body[0]?.video_id ?? '')).video_id
    expect(pageErrors).toEqual([])
  }, 150_000)

  test('the player plays, with its keys and its menu', async () => {
    await page.goto(`${platform.url}/player/${videoId}`)
    await (await find('.start')).click()
    await waitForVideo('the picture to pass 1 s', ({ currentTime }) => currentTime > 1)
    await page.keyboard.press('k')
    await waitForVideo('the pause', ({ paused }) => paused)
    await page.keyboard.press('5')
    await waitForVideo('the seek to the middle', ({ currentTime }) => Math.abs(currentTime - 3) < 0.1)
    await page.keyboard.press('m')
    await waitForVideo('the sound to be off', ({ muted }) => muted)
    await page.keyboard.press('?')
    await screenshot('keys')
    await page.keyboard.press('Escape')
    await (await find('.settings-button')).click()
    await (await find('[data-menu=speed]')).click()
    await page.waitForSelector(SPEEDS, { visible: true })
    await screenshot('menu')
    const speeds = await page.$$(SPEEDS)
    const texts = await Promise.all(speeds.map((speed) => speed.evaluate((element) => String(element.textContent).trim())))
    await speeds[texts.findIndex((text) => text.startsWith('2'))]?.click()
    await waitForVideo('double speed', ({ playbackRate }) => playbackRate === 2)
    expect(pageErrors).toEqual([])
  }, 90_000)

  test('an embedded player plays on the page of another site', async () => {
    const { body: code } = await platform.guest.get<[string]>(`/embed/${videoId}/iframe`)
    site.serve('/news', `<h1>News</h1>${code[0]}`)
    await page.goto(`${site.url}/news`)
    const frame = await waitFor(async () => page.frames().find((frame) => frame.url().includes('/player/')), { describe: 'the frame' })
    const start = await frame.waitForSelector(deep('.start'), { visible: true, timeout: extendTimeout(30_000) })
    await start?.click()
    await waitFor(async () => (await readVideo(frame)).currentTime > 1, { timeout: 30_000, describe: 'the picture to pass 1 s' })
    await screenshot('embedded')
    expect(pageErrors).toEqual([])
  }, 90_000)
})
