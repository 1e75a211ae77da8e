import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { freePort } from '@vitascope/embedded-postgres'
import { browserArguments, browserPath, waitFor } from '@vitascope/testing'
import { type Browser, chromium, type Page } from 'playwright-core'
import { createPerson, openConsolePage } from './support/console-page.ts'
import { type IdentityProvider, startIdentityProvider } from './support/identity-provider.ts'
import { checkState } from './support/page-state.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant } from './support/video-steps.ts'

const browserFile = browserPath()
const describeInBrowser = browserFile === undefined ? describe.skip : describe
const CLIENT = { id: 'vitascope', secret: 'the-secret-of-the-platform-at-the-provider' }
const SECRET_NAME = 'vitascope-browser-secret'

let provider: IdentityProvider
let platform: TestPlatform
let url: string
let organisationId: string
let browser: Browser
let page: Page
let problems: string[]

const openProvider = async () => {
  await page.getByRole('button', { name: 'Use single sign-on' }).click()
  await page.getByPlaceholder('Enter any login').waitFor()
}
const signInAtProvider = async (login: string, target = page) => {
  await target.getByPlaceholder('Enter any login').fill(login)
  await target.getByPlaceholder('and password').fill('any')
  await target.getByRole('button', { name: 'Sign-in' }).click()
  await target.getByRole('button', { name: 'Continue' }).click()
}
const alert = (text: string) => page.getByRole('alert').filter({ hasText: text })
const signOut = async () => {
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
}
const readSessionStatus = () => page.evaluate(`fetch('/v2/session').then(({ status }) => status)`)

describeInBrowser('the sign-in at an identity provider', () => {
  beforeAll(async () => {
    // The provider prints that it is set up for a test.
    for (const level of ['info', 'warn'] as const) jest.spyOn(console, level).mockImplementation(() => {})
    const port = await freePort()
    url = `http://localhost:${port}`
    provider = await startIdentityProvider({ ...CLIENT, redirectUri: `${url}/console/sign-in` })
    platform = await startTestPlatform({
      VITASCOPE_PORT: String(port),
      VITASCOPE_PUBLIC_URL: url,
      VITASCOPE_OIDC_ISSUER: provider.issuer,
      VITASCOPE_OIDC_CLIENT_ID: CLIENT.id,
      VITASCOPE_OIDC_CLIENT_SECRET: CLIENT.secret,
    })
    ;({ organisationId } = await createTenant(platform.system))
    const person = { userType: 'standard', password: 'correct horse battery', organisationId }
    await createPerson(platform.system, { email: 'ada@example.org', name: 'Ada Byron', ...person })
    provider.accounts['ada'] = { email: 'ada@example.org', email_verified: true, given_name: 'Augusta' }
    provider.accounts['eve'] = { email: 'eve@example.org', email_verified: true }
    browser = await chromium.launch({ executablePath: browserFile ?? '', args: [...browserArguments] })
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await platform?.remove()
    await provider?.close()
    jest.restoreAllMocks()
  })
  beforeEach(async () => {
    problems = []
    page = await openConsolePage(browser, (problem) => problems.push(problem))
  })
  afterEach(async () => {
    await page.context().close()
    expect(problems).toEqual([])
  })

  test('leads to the console as the user of the platform', async () => {
    await page.goto(`${url}/console`)
    await openProvider()
    expect(new URL(page.url()).origin).toBe(provider.issuer)
    await signInAtProvider('ada')
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
    await page.getByText('Ada Byron').first().waitFor()
    expect(page.url()).toBe(`${url}/console/videos`)
    expect(await page.evaluate(`fetch('/v2/session').then((response) => response.json())`)).toMatchObject({
      user: { email: 'ada@example.org', first_name: 'Ada', user_type: 'standard' },
    })
    expect(await page.evaluate(`[document.cookie, sessionStorage.getItem('${SECRET_NAME}')]`)).toEqual(['', null])
  }, 60_000)

  test('returns to the page that required it', async () => {
    await page.goto(`${url}/console/videos?layout=table`)
    await openProvider()
    await signInAtProvider('ada')
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
    expect(page.url()).toBe(`${url}/console/videos?layout=table`)
  }, 60_000)

  test('continues a session that ended, in another tab', async () => {
    await page.goto(`${url}/console/account`)
    await openProvider()
    await signInAtProvider('ada')
    await page.getByRole('heading', { name: 'Passkeys' }).waitFor()
    await page.evaluate(`fetch('/v2/session', { method: 'DELETE' })`)
    await waitFor(async () => (await readSessionStatus()) === 401, { describe: 'the end of the session' })
    await page.evaluate('window.isSamePage = true')
    await page.getByRole('link', { name: 'Playlists' }).click()
    const dialog = page.getByRole('dialog', { name: 'Sign in again' })
    await checkState(page, 'console-oidc-session-end')
    const opened = page.context().waitForEvent('page')
    await dialog.getByRole('link', { name: 'Use single sign-on in a new tab' }).click()
    const tab = await opened
    // The provider still has its own session.
    await tab.getByRole('button', { name: 'Use single sign-on' }).click()
    await tab.getByRole('button', { name: 'Sign out' }).waitFor()
    await dialog.waitFor({ state: 'hidden' })
    await page.getByRole('heading', { name: 'Playlists' }).waitFor()
    expect([await readSessionStatus(), await page.evaluate('window.isSamePage')]).toEqual([200, true])
  }, 60_000)

  test('rejects an account without a user, with the reason', async () => {
    await page.goto(`${url}/console`)
    await openProvider()
    await signInAtProvider('eve')
    await alert('Your account at the identity provider has no user on this platform').waitFor()
    expect(page.url()).toBe(`${url}/console/sign-in`)
    expect(await readSessionStatus()).toBe(401)
    await checkState(page, 'console-oidc-unknown')
    const { status, body } = await platform.system.get(`/user?organisation_id=${organisationId}`)
    expect([status, JSON.stringify(body)]).toEqual([200, expect.stringContaining('ada@example.org')])
    expect(JSON.stringify(body)).not.toContain('eve@example.org')
  }, 60_000)

  test('that the person cancels at the provider ends on the sign-in page, with a message', async () => {
    await page.goto(`${url}/console`)
    await openProvider()
    await page.getByRole('link', { name: 'Cancel' }).click()
    await alert('The sign-in was cancelled').waitFor()
    expect(page.url()).toBe(`${url}/console/sign-in`)
    expect(await page.evaluate(`sessionStorage.getItem('${SECRET_NAME}')`)).toBeNull()
    // A new attempt works.
    await openProvider()
    await signInAtProvider('ada')
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
  }, 60_000)

  test('accepts a response of the provider once, and only in the browser that began', async () => {
    await page.goto(`${url}/console`)
    let callback = ''
    let secret = ''
    page.on('request', (request) => {
      if (request.url().includes('/console/sign-in?code=')) callback = request.url()
      if (request.url().endsWith('/v2/session/oidc/callback')) secret = request.postDataJSON().browser_secret
    })
    await openProvider()
    await signInAtProvider('ada')
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
    expect([new URL(callback).searchParams.has('state'), secret]).toEqual([true, expect.stringMatching(/^[\w-]{43}$/)])
    await signOut()

    // The browser that began repeats the whole response.
    await page.evaluate(`sessionStorage.setItem('${SECRET_NAME}', '${secret}')`)
    await page.goto(callback)
    await alert('The sign-in at the identity provider did not succeed').waitFor()
    // Neither a reload nor the address repeats the request.
    expect(page.url()).toBe(`${url}/console/sign-in`)
    expect(await readSessionStatus()).toBe(401)
    await checkState(page, 'console-oidc-replayed')

    const other = await openConsolePage(browser, (problem) => problems.push(problem))
    await openConsoleSignIn(other)
    await other.goto(callback)
    await other.getByRole('alert').filter({ hasText: 'did not succeed' }).waitFor()
    expect(await other.evaluate(`fetch('/v2/session').then(({ status }) => status)`)).toBe(401)
    await other.context().close()
  }, 90_000)

  test('reports in the language of the person that the provider does not respond', async () => {
    const context = await browser.newContext({ locale: 'de-DE' })
    const german = await context.newPage()
    await german.route('**/v2/session/oidc/callback', async (route) => {
      await provider.close()
      await route.continue()
    })
    await openConsoleSignIn(german)
    await german.getByRole('button', { name: 'Mit Single Sign-on anmelden' }).click()
    await signInAtProvider('ada', german)
    await german.getByRole('alert').filter({ hasText: 'Identitätsanbieter antwortet nicht' }).waitFor()
    await context.close()
  }, 60_000)
})

async function openConsoleSignIn(target: Page): Promise<void> {
  await target.goto(`${url}/console/sign-in`)
  await target.getByRole('heading', { level: 1 }).waitFor()
}
