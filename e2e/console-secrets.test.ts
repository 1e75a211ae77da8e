import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { verifyWebhook } from '@vitascope/sdk'
import { browserPath, waitFor } from '@vitascope/testing'
import type { Locator, Page } from 'playwright-core'
import type { Api } from './support/api.ts'
import { ok, settle } from './support/console-page.ts'
import { type OpenConsole, openConsole } from './support/open-console.ts'
import { checkState } from './support/page-state.ts'
import type { SourceServer } from './support/source-server.ts'
import type { TestPlatform } from './support/test-platform.ts'
import type { Tenant } from './support/video-steps.ts'

const browserFile = browserPath()
const describeInBrowser = browserFile === undefined ? describe.skip : describe
const EMAIL = 'root@example.org'
const PASSWORD = 'correct horse battery'

interface Received {
  body: string
  headers: Record<string, string | string[] | undefined>
}

let platform: TestPlatform
let receiver: SourceServer
let tenant: Tenant
let api: Api
let opened: OpenConsole | undefined
let page: Page
let problems: string[]
/** Requests to the receiver, by path. */
let received: Record<string, Received[]>

const open = async (path: string) => {
  await page.goto(`${platform.url}/console/${path}`)
  await settle(page)
}
const dialog = () => page.getByRole('dialog')

/** Returns the secret of the open dialog, after a click outside and Escape, which do not close it. Closes the dialog. */
async function readSecret(label: string): Promise<string> {
  const field = dialog().getByLabel(label, { exact: true })
  await field.waitFor()
  await page.mouse.click(5, 5)
  await page.keyboard.press('Escape')
  const secret = await field.inputValue()
  await dialog().getByRole('button', { name: 'Close' }).last().click()
  await dialog().waitFor({ state: 'detached' })
  return secret
}

/** Waits until the button with this text has the keyboard focus. */
async function expectFocus(button: string): Promise<void> {
  await waitFor(async () => (await page.evaluate('document.activeElement.textContent')) === button, {
    describe: `the focus at the button ${button}`,
  })
}

/** Each test continues in the state in which the previous one ended. */
describeInBrowser('the console', () => {
  beforeAll(async () => {
    opened = await openConsole(browserFile, { email: EMAIL, password: PASSWORD, name: 'Rosa Root', userType: 'system' }, [])
    ;({ sources: receiver, platform, tenant, api, page, problems } = opened)
    received = {}
    for (const path of ['/old', '/new']) {
      received[path] = []
      receiver.setHandler(path, (request, response) => {
        text(request).then(
          (body) => {
            received[path]?.push({ body, headers: request.headers })
            response.end()
          },
          () => response.destroy(),
        )
      })
    }
  }, 180_000)
  afterAll(() => opened?.close())
  beforeEach(() => {
    problems.length = 0
  })
  afterEach(() => {
    expect(problems).toEqual([])
  })

  describe('keys', () => {
    type Key = { application_name: string; expires: string | null; resources: Record<string, object> }
    const listKeys = async () => (await ok(platform.system.get<{ acl: Record<string, Key> }>(`/apikey/user/${tenant.userId}`))).acl
    const createKey = async (name: string, fields: object) =>
      (await ok(platform.system.post<{ key: string }>(`/apikey/${tenant.userId}/generate`, { application_name: name, ...fields }))).key
    const statusOf = async (key: string) => (await platform.withKey(key).get('/video')).status
    const rowOf = (name: string) => page.getByRole('row').filter({ hasText: name })
    const openKeys = async () => {
      await open('keys')
      await page.getByRole('combobox', { name: 'User', exact: true }).click()
      await page.getByRole('option', { name: 'Ada Lovelace' }).click()
    }

    test('a new key gets the selected expiry, and its permissions are listed', async () => {
      await openKeys()
      await page.getByRole('button', { name: 'Create a key' }).click()
      await dialog().getByLabel('Name').fill('Newsroom')
      await dialog().getByLabel('Expires').fill('2040-06-15T12:30')
      await checkState(page, 'console-add-key')
      await dialog().getByRole('button', { name: 'Create a key' }).click()
      const key = await readSecret('Newsroom')
      await expectFocus('Create a key')
      const expires = `${new Date('2040-06-15T12:30').toISOString().slice(0, 19).replace('T', ' ')} GMT`
      const stored = (await listKeys())[key]
      expect(stored).toMatchObject({ application_name: 'Newsroom', expires })
      await rowOf('Newsroom').getByText('2040').waitFor()
      await rowOf('Newsroom')
        .getByText(`${Object.keys(stored?.resources ?? {}).length} permissions`)
        .click()
      await rowOf('Newsroom').getByText('Change: videos').waitFor()
      await rowOf('tests').getByText('Everything that its user may do').waitFor()
      await checkState(page, 'console-keys')
    }, 60_000)

    test('the old and the new key of a rotation are valid until the old one is revoked', async () => {
      const old = await createKey('Reports', { preset: 'read' })
      await openKeys()
      await rowOf('Reports').getByRole('button', { name: 'Rotate' }).click()
      await dialog().getByText('Stays valid until you revoke it').waitFor()
      await checkState(page, 'console-rotate-key')
      await dialog().getByRole('button', { name: 'Rotate', exact: true }).click()
      await dialog().getByText('The old key is valid until you revoke it', { exact: false }).waitFor()
      await checkState(page, 'console-rotated-key')
      const key = await readSecret('Reports')
      expect([await statusOf(old), await statusOf(key)]).toEqual([200, 200])
      const keys = await listKeys()
      expect(keys[key]).toMatchObject({ application_name: 'Reports', expires: null, resources: keys[old]?.resources })
      await rowOf(old.slice(0, 8)).getByRole('button', { name: 'Revoke' }).click()
      await dialog().getByRole('button', { name: 'Revoke' }).click()
      await waitFor(async () => (await statusOf(old)) === 401, { describe: 'the old key to be rejected' })
      expect(await statusOf(key)).toBe(200)
    }, 60_000)

    test('a disclosed key is replaced at once, with its expiry', async () => {
      const old = await createKey('Kiosk', { preset: 'playback', expiry_date: '2041-06-15 12:00:00 GMT' })
      await openKeys()
      await rowOf('Kiosk').getByRole('button', { name: 'Rotate' }).click()
      await dialog().getByRole('radio', { name: 'Is rejected within 5 s' }).click()
      await dialog().getByText('The new key expires at the same time', { exact: false }).waitFor()
      await dialog().getByRole('button', { name: 'Rotate', exact: true }).click()
      const key = await readSecret('Kiosk')
      expect(await statusOf(key)).toBe(200)
      await waitFor(async () => (await statusOf(old)) === 401, { describe: 'the old key to be rejected' })
      const keys = await listKeys()
      expect([keys[old], keys[key]?.expires]).toEqual([undefined, '2041-06-15 12:00:00 GMT'])
      await waitFor(async () => (await rowOf('Kiosk').count()) === 1, { describe: 'one key' })
    }, 60_000)

    test('the dialog stays open while a key is replaced, so that it shows the new one', async () => {
      await createKey('Studio', { preset: 'read' })
      await openKeys()
      await rowOf('Studio').getByRole('button', { name: 'Rotate' }).click()
      await dialog().getByRole('radio', { name: 'Is rejected within 5 s' }).click()
      let send = () => {}
      const isSent = new Promise<void>((resolve) => {
        send = resolve
      })
      await page.route('**/v2/apikey/**', async (route) => {
        if (route.request().method() !== 'GET') await isSent
        await route.continue()
      })
      await dialog().getByRole('button', { name: 'Rotate', exact: true }).click()
      await dialog().getByRole('button', { name: 'Cancel' }).click()
      send()
      const key = await readSecret('Studio')
      expect(await statusOf(key)).toBe(200)
      await page.unroute('**/v2/apikey/**')
    }, 60_000)
  })

  describe('webhooks', () => {
    let webhook: { id: string; secret: string }
    const row = () => page.getByRole('listitem').filter({ hasText: receiver.url })
    const read = async () => await ok(api.get<{ url: string; events: string[] }>(`/webhook/${webhook.id}`))
    const openDialog = async (button: string): Promise<Locator> => {
      await row().getByRole('button', { name: button }).click()
      await dialog().waitFor()
      return dialog()
    }
    const addEvent = async (event: string) => {
      await dialog().getByRole('combobox', { name: 'Events' }).click()
      await page.getByRole('option', { name: event }).click()
      // Closes the list of options.
      await dialog().getByLabel('Address').click()
    }
    /** Sends a test event by the console, and returns it as it was received at the path. */
    const sendTest = async (path: string): Promise<Received> => {
      const { length } = received[path] ?? []
      await row().getByRole('button', { name: 'Send a test event' }).click()
      await waitFor(() => (received[path]?.length ?? 0) > length, { describe: `a test event at ${path}` })
      const isDelivered = async () =>
        (await ok(api.get<{ status: string }[]>(`/webhook/${webhook.id}/delivery`))).every(({ status }) => status === 'delivered')
      await waitFor(isDelivered, { describe: 'the end of the delivery' })
      return received[path]?.at(-1) ?? { body: '', headers: {} }
    }
    const typeOf = async ({ body, headers }: Received, secret: string) => (await verifyWebhook(body, headers, secret)).type

    beforeAll(async () => {
      webhook = await ok(api.post<{ id: string; secret: string }>('/webhook', { url: `${receiver.url}/old`, events: ['video.ready'] }))
    })

    test('events are sent to the changed address, and the events of a webhook are changed', async () => {
      await open('webhooks')
      await openDialog('Change')
      await dialog().getByLabel('Address').fill(`${receiver.url}/new`)
      await addEvent('video.deleted')
      await checkState(page, 'console-edit-webhook')
      await dialog().getByRole('button', { name: 'Save' }).click()
      await dialog().waitFor({ state: 'detached' })
      expect(await read()).toMatchObject({ url: `${receiver.url}/new`, events: ['video.ready', 'video.deleted'] })
      expect(await typeOf(await sendTest('/new'), webhook.secret)).toBe('webhook.test')
      expect(received['/old']).toEqual([])
    }, 60_000)

    test('a change of the address keeps the events that another person has changed, and shows a conflict', async () => {
      await openDialog('Change')
      await ok(api.put(`/webhook/${webhook.id}`, { events: ['video.failed'] }))
      await dialog().getByLabel('Address').fill(`${receiver.url}/new?part=1`)
      await dialog().getByRole('button', { name: 'Save' }).click()
      await dialog().waitFor({ state: 'detached' })
      expect(await read()).toMatchObject({ url: `${receiver.url}/new?part=1`, events: ['video.failed'] })

      await row().getByText('video.failed').waitFor()
      await openDialog('Change')
      await ok(api.put(`/webhook/${webhook.id}`, { url: `${receiver.url}/new?part=2` }))
      await dialog().getByLabel('Address').fill(`${receiver.url}/new?part=3`)
      await dialog().getByRole('button', { name: 'Save', exact: true }).click()
      await dialog().getByText('Another person has changed this webhook', { exact: false }).waitFor()
      await dialog().getByRole('button', { name: 'Save my version' }).click()
      await dialog().waitFor({ state: 'detached' })
      expect((await read()).url).toBe(`${receiver.url}/new?part=3`)
    }, 60_000)

    test('events are signed with the new and the old secret after a rotation', async () => {
      await openDialog('Rotate the secret')
      await dialog().getByText('For 24 hours', { exact: false }).waitFor()
      await checkState(page, 'console-rotate-secret')
      await dialog().getByRole('button', { name: 'Rotate the secret' }).click()
      await dialog().getByText('events are also signed with the old secret', { exact: false }).waitFor()
      await checkState(page, 'console-rotated-secret')
      const secret = await readSecret('Signing secret')
      expect(secret).toMatch(/^whsec_/)
      expect(secret).not.toBe(webhook.secret)
      const event = await sendTest('/new')
      expect([await typeOf(event, secret), await typeOf(event, webhook.secret)]).toEqual(['webhook.test', 'webhook.test'])
      await checkState(page, 'console-webhooks-buttons')
    }, 60_000)
  })
})
