import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { browserArguments, extendTimeout } from '@vitascope/testing'
import { type Browser, chromium, type Locator, type Page } from 'playwright-core'
import { startTestPlatform, type TestPlatform } from './test-platform.ts'
import { createTenant, type Tenant } from './video-steps.ts'

/** Delays all upload parts after the first `count`. Returns a function that releases them. */
export async function holdParts(page: Page, count = 0): Promise<() => Promise<void>> {
  let remaining = count
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const address = '**/v2/upload/tus/*'
  await page.route(address, async (route) => {
    if (route.request().method() === 'PATCH' && remaining-- <= 0) await released
    // The page may have aborted the request.
    await route.continue().catch(() => {})
  })
  return async () => {
    release()
    await page.unroute(address)
  }
}

/** Counts and cancels the login dialogs of the browser. Returns a function that returns their number. */
export async function countLoginPrompts(page: Page): Promise<() => number> {
  const session = await page.context().newCDPSession(page)
  let prompts = 0
  session.on('Fetch.requestPaused', ({ requestId }) => void session.send('Fetch.continueRequest', { requestId }).catch(() => {}))
  session.on('Fetch.authRequired', ({ requestId }) => {
    prompts++
    void session.send('Fetch.continueWithAuth', { requestId, authChallengeResponse: { response: 'CancelAuth' } })
  })
  await session.send('Fetch.enable', { handleAuthRequests: true, patterns: [{ urlPattern: '*' }] })
  return () => prompts
}

export async function enterKey(page: Page, key: string): Promise<void> {
  await page.getByLabel('Access key', { exact: true }).fill(key)
  await page.getByRole('button', { name: 'Continue', exact: true }).click()
}

/** Waits until the file with the title is uploaded. Returns the id of its video. */
export async function uploadedId(page: Page, title: string): Promise<string> {
  const card = page
    .locator('.card:is([data-state=uploaded], [data-state=unplayable])')
    .filter({ has: page.getByRole('heading', { name: title, exact: true }) })
  const address = await card.locator('.open').getAttribute('href')
  return address?.replace('/player/', '') ?? ''
}

/** A platform with an organisation, a folder for files, and a browser. */
export interface UploadSetup {
  folder: string
  platform: TestPlatform
  tenant: Tenant
  browser: Browser
  close(): Promise<void>
}

export async function startUploadSetup(browserFile: string): Promise<UploadSetup> {
  const folder = await mkdtemp(join(tmpdir(), 'upload-'))
  const platform = await startTestPlatform()
  const tenant = await createTenant(platform.system)
  const browser = await chromium.launch({ executablePath: browserFile, args: [...browserArguments] })
  const close = async () => {
    await browser.close()
    await platform.remove()
    await rm(folder, { recursive: true, force: true })
  }
  return { folder, platform, tenant, browser, close }
}

/** Opens a page. Its errors and violations of the content security policy are added to the list. */
export async function openUploadPage(browser: Browser): Promise<{ page: Page; errors: string[] }> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  const page = await context.newPage()
  page.setDefaultTimeout(extendTimeout(60_000))
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(error.message))
  page.on('console', (message) => message.text().includes('Content Security Policy') && errors.push(message.text()))
  return { page, errors }
}

export async function chooseFiles(page: Page, folder: string, ...names: string[]): Promise<void> {
  await page.locator('#file').setInputFiles(names.map((name) => join(folder, name)))
}

/** Finds a text in the list of uploads only, because another element repeats most texts for screen readers. */
export function findInUploads(page: Page, text: string | RegExp, options: { exact?: boolean } = {}): Locator {
  return page.locator('.uploads').getByText(text, options)
}
