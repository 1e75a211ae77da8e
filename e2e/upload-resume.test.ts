import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { browserPath, waitFor } from '@vitascope/testing'
import type { Page, Request } from 'playwright-core'
import type { TestPlatform } from './support/test-platform.ts'
import {
  chooseFiles,
  enterKey,
  findInUploads,
  holdParts,
  openUploadPage,
  startUploadSetup,
  type UploadSetup,
  uploadedId,
} from './support/upload-page.ts'
import { type Tenant, type VideoRecord, waitUntilSettled } from './support/video-steps.ts'

const browserFile = browserPath()
const describeInBrowser = browserFile === undefined ? describe.skip : describe

let setup: UploadSetup
let folder: string
let platform: TestPlatform
let tenant: Tenant
let page: Page
let pageErrors: string[]

describeInBrowser('a paused upload of the upload page', () => {
  beforeAll(async () => {
    setup = await startUploadSetup(browserFile ?? '')
    folder = setup.folder
    platform = setup.platform
    tenant = setup.tenant
  }, 120_000)
  afterAll(() => setup?.close())
  beforeEach(async () => {
    const opened = await openUploadPage(setup.browser)
    page = opened.page
    pageErrors = opened.errors
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
    await chooseFiles(page, folder, 'sea.mp4')
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
    await chooseFiles(page, folder, 'sea.mp4')
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
    await chooseFiles(page, folder, 'storm.mp4')
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

const shown = (text: string | RegExp) => findInUploads(page, text)
