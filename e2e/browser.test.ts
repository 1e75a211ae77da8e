import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { browserArguments, browserPath, extendTimeout, waitFor } from '@vitascope/testing'
import { type Browser, chromium, type Page } from 'playwright-core'
import { type SourceServer, startSourceServer } from './support/source-server.ts'
import { makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, type Tenant, upload, waitUntilSettled } from './support/video-steps.ts'

const browserFile = browserPath()
const SCREENSHOTS = process.env['VITASCOPE_SCREENSHOTS']
// `npm test` installs a browser if it can, and prints a message otherwise.
const describeInBrowser = browserFile === undefined ? describe.skip : describe

let folder: string
let platform: TestPlatform
let sources: SourceServer
let tenant: Tenant
let browser: Browser

describeInBrowser('in a browser', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sources-'))
    sources = await startSourceServer(folder)
    await makeSource(folder, 'good.mp4')
    await makeSource(folder, 'small.mp4')
    platform = await startTestPlatform()
    tenant = await createTenant(platform.system)
    browser = await chromium.launch({ executablePath: browserFile ?? '', args: [...browserArguments] })
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await platform?.remove()
    await sources?.close()
    await rm(folder, { recursive: true, force: true })
  })

  const screenshot = async (page: Page, name: string) => {
    if (SCREENSHOTS === undefined) return
    await mkdir(SCREENSHOTS, { recursive: true })
    await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) })
  }
  const plays = (page: Page, seconds: number, timeout: number) =>
    waitFor(async () => (await page.locator('video').evaluate((video: { currentTime: number }) => video.currentTime)) > seconds, {
      timeout,
      describe: `the picture to pass ${seconds} s`,
    })

  test('the player page shows the encoding progress, then plays without a reload or console errors', async () => {
    const api = platform.withKey(tenant.key)
    const { id } = await upload(api, tenant.organisationId, `${sources.url}/good.mp4`, { name: 'Launch of the test card' })
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
    const hosts = new Set<string>()
    const pageErrors: string[] = []
    page.on('request', (request) => hosts.add(new URL(request.url()).host))
    page.on('console', (message) => message.type() === 'error' && pageErrors.push(message.text()))
    page.on('pageerror', (error) => pageErrors.push(error.message))
    await page.goto(`${platform.url}/player/${id}?autoplay=1&muted=1`)
    await page
      .getByText(/encod|prepar|process|wait/i)
      .first()
      .waitFor({ timeout: extendTimeout(20_000) })
    await screenshot(page, 'player-encoding')
    await plays(page, 2, 90_000)
    await screenshot(page, 'player')
    expect(await page.title()).toContain('Launch of the test card')
    expect([...hosts].filter((host) => host !== '')).toEqual([new URL(platform.url).host])
    expect(pageErrors).toEqual([])
    await page.close()
  }, 150_000)

  test('a protected video plays with its token and shows a message without it', async () => {
    const api = platform.withKey(tenant.key)
    const { id } = await upload(api, tenant.organisationId, `${sources.url}/small.mp4`)
    await waitUntilSettled(api, id)
    expect((await api.patch(`/video/${id}`, { security: { token_required_platform: true } })).status).toBe(200)
    const { body } = await api.post<{ token: string }>(`/video/${id}/token`, { expires_in: 600 })
    const page = await browser.newPage()
    await page.goto(`${platform.url}/player/${id}?token=${body.token}&autoplay=1&muted=1`)
    await plays(page, 1, 30_000)
    // The seek preview has the same protection: the path of each image contains the token.
    const sprite = page.waitForResponse((result) => result.url().endsWith('/images/storyboard-1.jpg'))
    const { x = 0, y = 0, width = 0 } = (await page.locator('.seek').boundingBox()) ?? {}
    await page.mouse.move(x + width / 2, y + 2)
    expect((await sprite).status()).toBe(200)
    expect((await sprite).url()).toContain(`~${body.token}/`)
    await page.locator('.peek > div').waitFor()
    await screenshot(page, 'player-peek')
    await page.goto(`${platform.url}/player/${id}`)
    await page
      .getByText(/protected/i)
      .first()
      .waitFor({ timeout: extendTimeout(20_000) })
    await screenshot(page, 'player-token')
    await page.close()
  }, 150_000)

  test('an audio-only video plays with a waveform image', async () => {
    await makeSource(folder, 'audio-only.mp3')
    const api = platform.withKey(tenant.key)
    const { id } = await upload(api, tenant.organisationId, `${sources.url}/audio-only.mp3`, { name: 'A tone' })
    await waitUntilSettled(api, id)
    const page = await browser.newPage({ viewport: { width: 960, height: 540 } })
    const poster = page.waitForResponse((result) => result.url().endsWith('/images/poster.jpg'))
    await page.goto(`${platform.url}/player/${id}?autoplay=1`)
    expect((await poster).status()).toBe(200)
    await plays(page, 1, 30_000)
    expect(await page.locator('video').evaluate((video: { videoWidth: number }) => video.videoWidth)).toBe(0)
    await screenshot(page, 'player-sound')
    await page.close()
  }, 90_000)
})
