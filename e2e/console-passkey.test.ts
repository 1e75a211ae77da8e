import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { freePort } from '@vitascope/embedded-postgres'
import { browserArguments, browserPath, waitFor } from '@vitascope/testing'
import { type Browser, type CDPSession, chromium, type Page } from 'playwright-core'
import { createPerson, expectNoSidewaysScroll, ok, openConsolePage, settle, signIn } from './support/console-page.ts'
import { asSuperuser } from './support/database.ts'
import { readLinkMail } from './support/link-mail.ts'
import { checkState } from './support/page-state.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, type Tenant } from './support/video-steps.ts'

const browserFile = browserPath()
const describeInBrowser = browserFile === undefined ? describe.skip : describe
const EMAIL = 'ada@example.org'
const PASSWORD = 'correct horse battery'
const NEW_PASSWORD = 'another long password'
const OTHER_PASSWORD = 'a third long password'

let platform: TestPlatform
let tenant: Tenant
let port: number
let url: string
let browser: Browser
let page: Page
let devices: CDPSession
let authenticatorId: string
let problems: string[]

const passkeys = async () => (await devices.send('WebAuthn.getCredentials', { authenticatorId })).credentials
const signOut = async () => {
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
}
const openAccount = async () => {
  await page.getByRole('link', { name: 'Your account' }).click()
  await page.getByRole('heading', { name: 'Passkeys' }).waitFor()
  await settle(page)
}
const row = (name: string) => page.getByRole('row').filter({ hasText: name })
/** Ends the session without the page. */
const endSession = async () => {
  await page.evaluate(`fetch('/v2/session', { method: 'DELETE' })`)
  await waitFor(async () => (await page.evaluate(`fetch('/v2/session').then(({ status }) => status)`)) === 401, {
    describe: 'the end of the session',
  })
}

/** Each test continues in the state in which the previous one ended. */
describeInBrowser('passkeys in the console', () => {
  beforeAll(async () => {
    port = await freePort()
    url = `http://localhost:${port}`
    platform = await startTestPlatform({ VITASCOPE_PORT: String(port), VITASCOPE_PUBLIC_URL: url })
    tenant = await createTenant(platform.system)
    await createPerson(platform.system, { email: EMAIL, name: 'Ada Byron', userType: 'standard', password: PASSWORD, ...tenant })
    await createPerson(platform.system, { email: 'bob@example.org', name: 'Bob Ray', userType: 'uploader', password: PASSWORD, ...tenant })
    browser = await chromium.launch({ executablePath: browserFile ?? '', args: [...browserArguments] })
    page = await openConsolePage(browser, (problem) => problems.push(problem))
    devices = await page.context().newCDPSession(page)
    await devices.send('WebAuthn.enable')
    ;({ authenticatorId } = await devices.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    }))
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await platform?.remove()
  })
  beforeEach(() => {
    problems = []
  })
  afterEach(() => {
    expect(problems).toEqual([])
  })

  test('a user adds a passkey and renames it', async () => {
    await page.goto(`${url}/console/account`)
    await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor()
    await checkState(page, 'console-passkey-sign-in')
    await signIn(page, EMAIL, PASSWORD)
    await page.getByText('You have no passkeys yet.').waitFor()
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Laptop')
    await page.getByRole('button', { name: 'Create passkey' }).click()
    await row('Laptop').waitFor()
    expect(await passkeys()).toMatchObject([{ isResidentCredential: true, rpId: 'localhost', userName: EMAIL }])
    // The same device does not get a second one.
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Again')
    await page.getByRole('button', { name: 'Create passkey' }).click()
    await page.getByRole('alert').filter({ hasText: 'already has a passkey' }).waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
    await page.getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Work laptop')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await row('Work laptop').getByText('Never').waitFor()
    await checkState(page, 'console-passkey-account')
    await expectNoSidewaysScroll(page)
  }, 90_000)

  test('the passkey alone signs the user in', async () => {
    await signOut()
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await openAccount()
    expect(await page.evaluate('document.cookie')).toBe('')
    await waitFor(async () => (await row('Work laptop').getByText('Never').count()) === 0, { describe: 'the time of the last use' })
  }, 60_000)

  test('a user whom the device does not verify is not signed in', async () => {
    await signOut()
    await devices.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.getByRole('alert').filter({ hasText: 'The passkey was not used' }).waitFor()
    await devices.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true })
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
  }, 60_000)

  test('a user requires the passkey after the password', async () => {
    await openAccount()
    await page.getByLabel('Require a passkey after the password').click({ force: true })
    await waitFor(async () => (await readSettings()).passkey_required === true, { describe: 'the setting' })
    await row('Work laptop').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('this is your last passkey').waitFor()
    await page.reload()
    await openAccount()
    await signOut()
    await signIn(page, EMAIL, 'a wrong password')
    await page.getByRole('alert').filter({ hasText: 'email address or the password is wrong' }).waitFor()
    await signIn(page, EMAIL, PASSWORD)
    await page.getByText('Your password is right.').waitFor()
    await checkState(page, 'console-passkey-second-step')
    expect(await page.evaluate(`fetch('/v2/session').then(({ status }) => status)`)).toBe(401)
    await page.getByRole('button', { name: 'Continue with your passkey' }).click()
    await openAccount()
  }, 90_000)

  test('a mail for a new password does not replace the passkey', async () => {
    await signOut()
    await page.getByRole('button', { name: 'Forgot your password?' }).click()
    await page.getByLabel('Email address').fill(EMAIL)
    await page.getByRole('button', { name: 'Send a link' }).click()
    await page.getByRole('status').filter({ hasText: 'on its way' }).waitFor()
    const { link } = await readLinkMail({ platform }, EMAIL)
    await page.goto(`${url}/console/sign-in#link=${link}`)
    await page.reload()
    await page.getByLabel('New password').fill(NEW_PASSWORD)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByText('Your new password is set.').waitFor()
    expect(page.url()).not.toContain(link)
    await page.getByRole('link', { name: 'To the sign-in page' }).click()
    await signIn(page, EMAIL, NEW_PASSWORD)
    await page.getByRole('button', { name: 'Continue with your passkey' }).click()
    await openAccount()
  }, 90_000)

  test('a session that ends is continued with the passkey', async () => {
    await endSession()
    await page.getByLabel('Require a passkey after the password').click({ force: true })
    const dialog = page.getByRole('dialog', { name: 'Sign in again' })
    await dialog.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await page.getByRole('heading', { name: 'Passkeys' }).waitFor()
  }, 60_000)

  test('a user deletes the passkey after it is no longer required, and signs in again for that', async () => {
    const required = page.getByLabel('Require a passkey after the password')
    await asSuperuser(platform, (client) => client.query(`update auth.api_key set create_time = now() - interval '6 minutes'`))
    await required.click({ force: true })
    const dialog = page.getByRole('dialog', { name: 'Confirm that it is you' })
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('Nothing was changed, because you did not sign in again.').waitFor()
    expect(await readSettings()).toMatchObject({ passkey_required: true })
    await required.click({ force: true })
    await dialog.waitFor()
    await checkState(page, 'console-passkey-confirm')
    await dialog.getByLabel('Password', { exact: true }).fill(NEW_PASSWORD)
    await dialog.getByRole('button', { name: 'Sign in', exact: true }).click()
    await dialog.getByRole('button', { name: 'Continue with your passkey' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await waitFor(async () => (await readSettings()).passkey_required === false, { describe: 'the setting' })
    const { length } = await page.evaluate<{ id: string }[]>(`fetch('/v2/session/all').then((response) => response.json())`)
    expect(length).toBe(1)
    await row('Work laptop').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('You have no passkeys yet.').waitFor()
    await signOut()
    // The device still has the key, which the platform no longer accepts.
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.getByRole('alert').filter({ hasText: 'the passkey was not accepted' }).waitFor()
    await signIn(page, EMAIL, NEW_PASSWORD)
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
  }, 60_000)

  test('a user changes the own name and password', async () => {
    await openAccount()
    await page.getByLabel('Last name').fill('x'.repeat(100))
    await page.getByRole('button', { name: 'Discard changes' }).click()
    expect(await page.getByLabel('Last name').inputValue()).toBe('Byron')
    const { user } = await page.evaluate<{ user: { user_id: string } }>(`fetch('/v2/session').then((response) => response.json())`)
    await ok(platform.system.patch(`/user/${user.user_id}`, { first_name: 'Augusta' }))
    await page.getByLabel('Last name').fill('Lovelace')
    await page.getByLabel('Telephone').fill('+44 20 7946 0000')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved', { exact: true }).waitFor()
    // The change of a manager is kept.
    expect(await page.getByLabel('First name').inputValue()).toBe('Augusta')
    await page.reload()
    await settle(page)
    expect(await page.getByLabel('Last name').inputValue()).toBe('Lovelace')
    expect(await page.getByLabel('First name').inputValue()).toBe('Augusta')
    await asSuperuser(platform, (client) => client.query(`update auth.api_key set create_time = now() - interval '6 minutes'`))
    await page.getByRole('button', { name: 'Change the password' }).click()
    const field = page.getByLabel('New password')
    await field.fill(OTHER_PASSWORD)
    expect(await field.getAttribute('type')).toBe('password')
    await page.getByRole('button', { name: 'Show the characters' }).click()
    expect(await field.getAttribute('type')).toBe('text')
    await checkState(page, 'console-password')
    await page.getByRole('dialog').getByRole('button', { name: 'Change the password' }).click()
    const dialog = page.getByRole('dialog', { name: 'Confirm that it is you' })
    await dialog.getByLabel('Password', { exact: true }).fill(NEW_PASSWORD)
    await dialog.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByText('Your password was changed').waitFor()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await signOut()
    await signIn(page, EMAIL, NEW_PASSWORD)
    await page.getByRole('alert').filter({ hasText: 'email address or the password is wrong' }).waitFor()
    await signIn(page, EMAIL, OTHER_PASSWORD)
    await openAccount()
  }, 60_000)

  test('a manager resets the passkeys of a user', async () => {
    await page.getByRole('link', { name: 'Users' }).click()
    await row('Bob Ray').getByRole('button', { name: 'Reset passkeys' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Reset passkeys' }).click()
    await page.getByText('The user has no passkeys any more').waitFor()
    expect(await row(EMAIL).getByRole('button', { name: 'Reset passkeys' }).count()).toBe(0)
    await checkState(page, 'console-passkey-users')
  }, 60_000)

  test('the link of a mail works in a browser with the session of another user', async () => {
    const email = 'cleo@example.org'
    const fields = { email, first_name: 'Cleo', last_name: 'Page', organisation_id: tenant.organisationId }
    const { user_id } = await ok(platform.system.post<{ user_id: string }>('/user', fields))
    await ok(platform.system.post(`/user/${user_id}/invitation`))
    const { link } = await readLinkMail({ platform }, email)
    await page.goto(`${url}/console/sign-in#link=${link}`)
    await page.getByLabel('New password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('link', { name: 'Cleo Page' }).waitFor()
    expect(page.url()).toBe(`${url}/console/videos`)
  }, 60_000)

  test('another user does not see what was loaded for the previous one', async () => {
    await openAccount()
    await row('This browser').waitFor()
    await endSession()
    await page.getByRole('link', { name: 'Playlists' }).click()
    await page.getByRole('button', { name: 'Continue as another user' }).click()
    // The sessions of the other user do not arrive.
    await page.route('**/v2/session/all', () => {})
    await signIn(page, 'bob@example.org', PASSWORD)
    await page.getByRole('link', { name: 'Your account' }).click()
    await page.getByRole('heading', { name: 'Sessions' }).waitFor()
    expect(await row('This browser').count()).toBe(0)
    await page.unroute('**/v2/session/all')
  }, 60_000)

  test('the button to sign out leaves a session that has ended', async () => {
    await endSession()
    await signOut()
    expect(await page.getByRole('heading', { name: 'Sessions' }).count()).toBe(0)
  }, 60_000)

  test('passkeys are not offered at an IP address', async () => {
    const provider = page.waitForResponse('**/v2/session/oidc')
    await page.goto(`http://127.0.0.1:${port}/console/account`)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await provider
    expect(await page.getByRole('button', { name: 'Sign in with a passkey' }).count()).toBe(0)
    await signIn(page, EMAIL, OTHER_PASSWORD)
    await page.getByText(`Passkeys work only at ${url}.`).waitFor()
    expect(await page.getByRole('button', { name: 'Add a passkey' }).count()).toBe(0)
    await page.route('**/v2/session/settings', (route) => route.fulfill({ json: { passkey_required: false, passkey_origin: '' } }))
    await page.reload()
    await page.getByText('Passkeys require a host name.').waitFor()
    await checkState(page, 'console-passkey-address')
  }, 60_000)
})

/** Reads the settings of the user whose session the page has. */
function readSettings(): Promise<{ passkey_required: boolean }> {
  return page.evaluate(`fetch('/v2/session/settings').then((response) => response.json())`)
}
