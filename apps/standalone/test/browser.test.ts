import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { browserArguments, browserPath, waitFor } from '@vitascope/testing'
import { type Browser, chromium, type Page } from 'playwright-core'
import { type SourceServer, startSourceServer } from './support/source-server.ts'
import { makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { aTenant, settled, type Tenant, upload } from './support/video-steps.ts'

const browserFile = browserPath()
const SCREENSHOTS = process.env['VITASCOPE_SCREENSHOTS']
// `npm test` installs it where it may, and says so where it may not.
const inBrowser = browserFile === undefined ? describe.skip : describe

let folder: string
let platform: TestPlatform
let sources: SourceServer
let tenant: Tenant
let browser: Browser

inBrowser('in a browser', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sources-'))
    sources = await startSourceServer(folder)
    await makeSource(folder, 'good.mp4')
    platform = await startTestPlatform()
    tenant = await aTenant(platform.system)
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

  test('the player page shows the progress of an encode and then plays, without a reload, a host outside or a complaint', async () => {
    const api = platform.withKey(tenant.key)
    const { id } = await upload(api, tenant.organisationId, `${sources.url}/good.mp4`, { name: 'Launch of the test card' })
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
    const hosts = new Set<string>()
    const complaints: string[] = []
    page.on('request', (request) => hosts.add(new URL(request.url()).host))
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(error.message))
    await page.goto(`${platform.url}/player/${id}?autoplay=1&muted=1`)
    await page
      .getByText(/encod|prepar|process|wait/i)
      .first()
      .waitFor({ timeout: 20_000 })
    await screenshot(page, 'player-encoding')
    await plays(page, 2, 90_000)
    await screenshot(page, 'player')
    expect(await page.title()).toContain('Launch of the test card')
    expect([...hosts].filter((host) => host !== '')).toEqual([new URL(platform.url).host])
    expect(complaints).toEqual([])
    await page.close()
  }, 150_000)

  test('a protected video plays with its token and says what is missing without it', async () => {
    const api = platform.withKey(tenant.key)
    const { id } = await upload(api, tenant.organisationId, `${sources.url}/good.mp4`)
    await settled(api, id)
    expect((await api.patch(`/video/${id}`, { security: { token_required_platform: true } })).status).toBe(200)
    const { body } = await api.post<{ token: string }>(`/video/${id}/token`, { expires_in: 600 })
    const page = await browser.newPage()
    await page.goto(`${platform.url}/player/${id}?token=${body.token}&autoplay=1&muted=1`)
    await plays(page, 1, 30_000)
    await page.goto(`${platform.url}/player/${id}`)
    await page
      .getByText(/protected/i)
      .first()
      .waitFor({ timeout: 20_000 })
    await screenshot(page, 'player-token')
    await page.close()
  }, 150_000)

  test('the docs page lists the endpoints without a host outside', async () => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 1000 } })
    const hosts = new Set<string>()
    page.on('request', (request) => !request.url().startsWith('data:') && hosts.add(new URL(request.url()).host))
    await page.goto(`${platform.url}/docs`)
    await page.locator('[data-path="/apikey/acl-list"]').first().waitFor({ timeout: 30_000 })
    // It draws what is in sight.
    const scroll = async () => {
      await page.mouse.wheel(0, 500)
      return (await page.locator('[data-path="/video/upload"]').count()) > 0
    }
    await waitFor(scroll, { timeout: 30_000, describe: 'the endpoints of videos to come in sight' })
    await screenshot(page, 'docs')
    expect([...hosts]).toEqual([new URL(platform.url).host])
    await page.close()
  }, 60_000)
})
