import { extendTimeout, waitFor } from '@vitascope/testing'
import type { Browser, Page } from 'playwright-core'
import type { Api } from './api.ts'
import type { VideoRecord } from './video-steps.ts'

/** Creates a user with a password, who can sign in. */
export async function createPerson(
  system: Api,
  {
    email,
    name,
    userType,
    password,
    organisationId,
  }: { email: string; name: string; userType: string; password: string; organisationId: string },
): Promise<void> {
  const [first_name, last_name] = name.split(' ')
  const fields = { email, first_name, last_name, user_type: userType, password, organisation_id: organisationId }
  const { status, body } = await system.post('/user', fields)
  if (status !== 200) throw new Error(`creating the user returned ${status}: ${JSON.stringify(body)}`)
}

/** Enters an email address and a password in the form for signing in. */
export async function signIn(page: Page, email: string, password: string): Promise<void> {
  await page.getByLabel('Email address').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

/** Opens a page of the console, signs in, and waits for the page with this heading. */
export async function openSignedIn(
  page: Page,
  { url, path = 'videos', heading = 'Videos' }: { url: string; path?: string; heading?: string },
  { email, password }: { email: string; password: string },
): Promise<void> {
  await page.goto(`${url}/console/${path}`)
  await signIn(page, email, password)
  await page.getByRole('heading', { name: heading }).waitFor()
}

/** Returns the body of a response. Throws if its status is not 2xx. */
export async function ok<Body>(response: Promise<{ status: number; body: Body }>): Promise<Body> {
  const { status, body } = await response
  if (status >= 300) throw new Error(`a request was rejected with ${status}: ${JSON.stringify(body)}`)
  return body
}

/** Saves the details. The button is disabled while there is nothing to save. */
export async function save(page: Page): Promise<void> {
  const button = page.getByRole('button', { name: 'Save', exact: true }).first()
  await button.click()
  await waitFor(
    () => button.isDisabled().then((isDisabled) => isDisabled && button.getAttribute('data-loading').then((loading) => loading === null)),
    {
      describe: 'the details to be saved',
    },
  )
}

/** Confirms a deletion in its dialog, and waits until the dialog has closed. */
export async function confirmDelete(page: Page): Promise<void> {
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}

/** Waits until the page has loaded its data. */
export async function settle(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor()
  await waitFor(async () => (await page.locator('.mantine-Loader-root').count()) === 0, { describe: 'the data of the page' })
}

/** Returns the total compressed size in bytes of the console scripts that the page has loaded so far. */
export async function readScriptBytes(page: Page): Promise<number> {
  return await page.evaluate(`performance.getEntriesByType('resource')
    .filter(({ name }) => name.includes('/console/assets/') && name.endsWith('.js'))
    .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`)
}

/** Waits until the page has no horizontal scrolling at a width of 360 px. Sets a width of 1440 px afterwards. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  await page.setViewportSize({ width: 360, height: 800 })
  await waitFor(async () => Number(await page.evaluate('document.documentElement.scrollWidth')) <= 360, {
    describe: 'a page without horizontal scrolling at 360 px',
  })
  await page.setViewportSize({ width: 1440, height: 900 })
}

/** Returns the first page of the organisation's videos, oldest first. */
export async function listAllVideos(api: Api): Promise<VideoRecord[]> {
  return (await api.get<{ videos: VideoRecord[] }>('/video?sort_by=date_created')).body.videos
}

export async function readFirstVideo(api: Api): Promise<VideoRecord> {
  const [video] = await listAllVideos(api)
  if (!video) throw new Error('there is no video')
  return video
}

/** Opens a page in its own browser context. Calls `addProblem` for uncaught errors and violations of the content security policy. */
export async function openConsolePage(browser: Browser, addProblem: (problem: string) => void): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-GB', reducedMotion: 'reduce' })
  const page = await context.newPage()
  page.setDefaultTimeout(extendTimeout(30_000))
  page.on('pageerror', (error) => addProblem(error.message))
  page.on('console', (message) => message.text().includes('Content Security Policy') && addProblem(message.text()))
  return page
}
