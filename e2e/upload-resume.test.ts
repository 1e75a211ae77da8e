import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { browserArguments, browserPath, extendTimeout, waitFor } from '@vitascope/testing'
import { type Browser, chromium, type Locator, type Page, type Request } from 'playwright-core'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { enterKey, holdParts, uploadedId } from './support/upload-page.ts'
import { createTenant, type Tenant, type VideoRecord, waitUntilSettled } from './support/video-steps.ts'

const browserFile = browserPath()
const describeInBrowser = browserFile === undefined ? describe.skip : describe

let folder: string
let platform: TestPlatform
let tenant: Tenant
let browser: Browser
let page: Page
let pageErrors: string[]

describeInBrowser('a paused upload of the upload page', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'upload-resume-'))
    platform = await startTestPlatform()
    tenant = await createTenant(platform.system)
    browser = await chromium.launch({ executablePath: browserFile ?? '', args: [...browserArguments] })
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await platform?.remove()
    await rm(folder, { recursive: true, force: true })
  })
  beforeEach(async () => {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
    page = await context.newPage()
    page.setDefaultTimeout(extendTimeout(60_000))
    pageErrors = []
    page.on('pageerror', (error) => pageErrors.push(error.message))
    await page.goto(`${platform.url}/upload`)
    await enterKey(page, tenant.key)
    await page.getByText('Access key accepted').waitFor()
  })
  afterEach(async () => {
    await page.context().close()
    expect(pageErrors).toEqual([])
  })

  test('continues after a reload with its details', async () => {
    await writeFile(join(folder, 'sea.mp4'), randomBytes(6 * 2 ** 20))
    const release = await holdParts(page, 1)
    await chooseFile('sea.mp4')
    await shown(/^1\.0 MB of 6\.3 MB/).waitFor()
    await page.getByLabel('Title').fill('Noise of the sea')
    await shown('Saved when the upload is complete').waitFor()
    await page.getByRole('button', { name: 'Pause' }).click()
    await shown('Paused.').waitFor()
    await release()
    await page.reload()
    await page.getByText('Access key accepted').waitFor()
    const requests: string[] = []
    page.on('request', (request) => request.url().includes('/upload/tus') && requests.push(request.method()))
    await chooseFile('sea.mp4')
    const videoId = await uploadedId(page, 'Noise of the sea')
    expect(requests[0]).toBe('HEAD')
    expect(requests).not.toContain('POST')
    const { video_title } = await waitUntilSettled(platform.withKey(tenant.key), videoId)
    expect(video_title).toBe('Noise of the sea')
    await shown('Uploaded, but it cannot be shown.').waitFor()
  }, 120_000)

  test('that the server deleted is created again, and later changes of its visibility are kept', async () => {
    await writeFile(join(folder, 'storm.mp4'), randomBytes(6 * 2 ** 20))
    const sendsPart = (request: Request) => request.method() === 'PATCH' && request.url().includes('/v2/upload/tus/')
    const firstPart = page.waitForRequest(sendsPart)
    const release = await holdParts(page, 1)
    await chooseFile('storm.mp4')
    const { pathname } = new URL((await firstPart).url())
    await shown(/^1\.0 MB of 6\.3 MB/).waitFor()
    await page.getByRole('button', { name: 'Pause: storm' }).click()
    await shown('Paused.').waitFor()
    await release()
    await page.getByRole('radio', { name: 'Only my organisation' }).check()
    const headers = { Authorization: `Bearer ${tenant.key}`, 'Tus-Resumable': '1.0.0' }
    expect((await fetch(`${platform.url}${pathname}`, { method: 'DELETE', headers })).status).toBe(204)
    const newPart = page.waitForRequest(sendsPart)
    const releaseNew = await holdParts(page)
    await page.getByRole('button', { name: 'Continue: storm' }).click()
    expect(new URL((await newPart).url()).pathname).not.toBe(pathname)
    await page.getByRole('radio', { name: /^Everyone(?! with)/ }).check()
    await releaseNew()
    const videoId = await uploadedId(page, 'storm')
    const readVideo = async () => (await platform.withKey(tenant.key).get<VideoRecord>(`/video/${videoId}`)).body
    await waitFor(async () => (await readVideo())['visibility'] === 'public', { describe: 'the visibility to be saved' })
  }, 120_000)
})

async function chooseFile(name: string): Promise<void> {
  await page.locator('#file').setInputFiles(join(folder, name))
}

/** Finds a text in the list of uploads only, because another element repeats most texts for screen readers. */
function shown(text: string | RegExp): Locator {
  return page.locator('.uploads').getByText(text)
}
