import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { browserPath, waitFor } from '@vitascope/testing'
import type { Page } from 'playwright-core'
import type { Api } from './support/api.ts'
import { confirmDelete, createPerson, ok, save, settle } from './support/console-page.ts'
import { type OpenConsole, openConsole } from './support/open-console.ts'
import { checkState } from './support/page-state.ts'
import type { SourceServer } from './support/source-server.ts'
import type { TestPlatform } from './support/test-platform.ts'
import { type Tenant, upload, type VideoRecord, waitUntilSettled } from './support/video-steps.ts'

const browserFile = browserPath()
const describeInBrowser = browserFile === undefined ? describe.skip : describe
const EMAIL = 'root@example.org'
const PASSWORD = 'correct horse battery'

let folder: string
let platform: TestPlatform
let sources: SourceServer
let tenant: Tenant
let api: Api
let opened: OpenConsole | undefined
let page: Page
let problems: string[]
/** Ids of the videos with the titles First and Second. */
let videoIds: [first: string, second: string]

const open = async (path: string) => {
  await page.goto(`${platform.url}/console/${path}`)
  await settle(page)
}
/** A click on the dark area around a dialog. */
const clickOutside = () => page.mouse.click(5, 5)

/** Keys, webhooks, forms, playlists and changes of many videos. Each test continues in the state in which the previous one ended. */
describeInBrowser('the console', () => {
  beforeAll(async () => {
    opened = await openConsole(browserFile, { email: EMAIL, password: PASSWORD, name: 'Rosa Root', userType: 'system' }, ['small.mp4'])
    ;({ folder, sources, platform, tenant, api, page, problems } = opened)
    page.on('dialog', (dialog) => void dialog.accept())
    const first = await upload(api, tenant.organisationId, `${sources.url}/small.mp4`, { name: 'First' })
    const { media_id } = await waitUntilSettled(api, first.id)
    const second = await ok(api.post<{ video_id: string }>(`/media/${media_id}/publish`))
    await ok(api.patch(`/video/${second.video_id}`, { video_title: 'Second' }))
    videoIds = [first.id, second.video_id]
  }, 180_000)
  afterAll(() => opened?.close())
  beforeEach(() => {
    problems.length = 0
  })
  afterEach(() => {
    expect(problems).toEqual([])
  })

  test('lists keys that expire', async () => {
    const key = { application_name: 'Kiosk', preset: 'read', expiry_date: '2040-06-15 12:00:00 GMT' }
    await ok(platform.system.post(`/apikey/${tenant.userId}/generate`, key))
    await open('keys')
    await page.getByRole('combobox', { name: 'User', exact: true }).click()
    await page.getByRole('option', { name: 'Ada Lovelace' }).click()
    await page.getByRole('row').filter({ hasText: 'Kiosk' }).getByText('2040').waitFor()
  }, 60_000)

  test('a click outside does not close the dialog of a new key, nor does Escape while the key is shown', async () => {
    await page.getByRole('button', { name: 'Create a key' }).click()
    const name = page.getByRole('dialog').getByLabel('Name')
    await name.fill('Newsroom')
    await clickOutside()
    expect(await name.inputValue()).toBe('Newsroom')
    await page.getByRole('dialog').getByRole('button', { name: 'Create a key' }).click()
    const key = page.getByLabel('Newsroom', { exact: true })
    await key.waitFor()
    await clickOutside()
    await page.keyboard.press('Escape')
    expect(await key.inputValue()).not.toBe('')
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
    await page.getByRole('row').filter({ hasText: 'Newsroom' }).waitFor()
  }, 60_000)

  test('shows the keys of a user of the organisation that is selected', async () => {
    const annex = await ok(platform.system.post<{ organisation_id: string }>('/organisation', { name: 'Annex' }))
    const person = { email: 'bea@example.org', name: 'Bea Ray', userType: 'uploader', password: PASSWORD }
    await createPerson(platform.system, { ...person, organisationId: annex.organisation_id })
    await open('keys')
    const select = async (name: string | RegExp) => {
      await page.getByRole('combobox', { name: 'Organisation' }).click()
      await page.getByRole('option', { name }).click()
    }
    await select('Annex')
    const owner = page.getByRole('combobox', { name: 'User', exact: true })
    await waitFor(async () => (await owner.inputValue()) === 'Bea Ray', { describe: 'the user of the other organisation' })
    await page.getByText('This user has no keys yet').waitFor()
    await select(/^Tenant/)
    await waitFor(async () => (await owner.inputValue()) === 'Rosa Root', { describe: 'the user of the own organisation' })
  }, 60_000)

  test('keeps the secret of a webhook, and offers only what the platform accepts', async () => {
    await open('webhooks')
    await page.getByRole('button', { name: 'Add a webhook' }).click()
    await page.getByRole('dialog').getByLabel('Address').fill('https://hooks.example.org/video')
    await page.getByRole('dialog').getByRole('button', { name: 'Add a webhook' }).click()
    const secret = page.getByLabel('Signing secret', { exact: true })
    await secret.waitFor()
    await clickOutside()
    await page.keyboard.press('Escape')
    expect(await secret.inputValue()).toMatch(/^whsec_/)
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Send a test event' }).click()
    await page.getByRole('button', { name: 'Deliveries' }).click()
    const row = page.getByRole('row').filter({ hasText: 'webhook.test' })
    await row.getByText('Waiting').waitFor()
    // The platform rejects it before the delivery has ended.
    expect(await row.getByRole('button', { name: 'Send again' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Deactivate' }).click()
    await page.getByRole('button', { name: 'Activate', exact: true }).waitFor()
    expect(await page.getByRole('button', { name: 'Send a test event' }).isDisabled()).toBe(true)
  }, 60_000)

  test('the history has a message for no entries', async () => {
    await open('audit')
    await page.getByRole('row').nth(1).waitFor()
    await page.getByLabel('Path').fill('/v2/nothing')
    await page.getByText('There are no such changes').waitFor()
    await checkState(page, 'console-audit-none')
  }, 60_000)

  test('keeps the texts of a new contact form, and selects a form for a video', async () => {
    await open('forms')
    await page.getByRole('button', { name: 'Create a form' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Internal name').fill('Tickets')
    await clickOutside()
    expect(await dialog.getByLabel('Internal name').inputValue()).toBe('Tickets')
    await dialog.getByLabel('Text', { exact: false }).first().fill('Who are you?')
    await dialog.getByLabel('Label of the button').fill('Send')
    await dialog.getByRole('switch', { name: 'Request consent' }).check()
    await dialog.getByLabel('Text of the consent').fill('You may send me news.')
    await checkState(page, 'console-form-dialog')
    await dialog.getByRole('button', { name: 'Create a form' }).click()
    await dialog.waitFor({ state: 'detached' })
    const [form] = await ok(api.get<Record<string, string>[]>('/contact-form'))
    expect(form).toMatchObject({ reference: 'Tickets', capture_opt_in: '1', opt_in_message: 'You may send me news.' })

    await page.getByRole('button', { name: 'Create a similar form' }).click()
    await dialog.getByLabel('Internal name').fill('Concerts')
    await dialog.getByRole('button', { name: 'Create a form' }).click()
    await dialog.waitFor({ state: 'detached' })
    const forms = await ok(api.get<Record<string, string>[]>('/contact-form'))
    const { capture_opt_in, opt_in_message, primary_text, button_text } = form ?? {}
    expect(forms[1]).toMatchObject({ ...{ reference: 'Concerts', capture_opt_in, opt_in_message }, primary_text, button_text })

    await open(`videos/${videoIds[0]}?tab=sharing`)
    const tab = page.getByRole('tabpanel')
    await tab.getByRole('combobox', { name: 'Contact form' }).click()
    await page.getByRole('option', { name: 'Tickets' }).click()
    await tab.getByRole('button', { name: 'Save', exact: true }).last().click()
    await page.getByText('Saved', { exact: true }).waitFor()
    expect((await api.get(`/video/${videoIds[0]}`)).body).toMatchObject({ contact_form_id: form?.['id'] })
  }, 60_000)

  test('a single submission of a contact form is deleted after a confirmation', async () => {
    const fields = { reference: 'Fair', primary_text: 'Who are you?', button_text: 'Send' }
    const { id } = await ok(api.post<{ id: string }>('/contact-form', fields))
    const emails = async () => (await ok(api.get<{ email: string }[]>(`/contact-form/${id}/submission`))).map(({ email }) => email)
    for (const email of ['ada@example.org', 'bob@example.org']) await ok(platform.guest.post(`/contact-form/${id}/submission`, { email }))
    await open('forms')
    const form = page.getByRole('listitem').filter({ hasText: 'Fair' })
    await form.getByRole('button', { name: 'Submissions' }).click()
    await form.getByRole('button', { name: 'Delete the submission of ada@example.org' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Exported copies stay', { exact: false }).waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await emails()).toEqual(['ada@example.org', 'bob@example.org'])
    await form.getByRole('button', { name: 'Delete the submission of ada@example.org' }).click()
    await confirmDelete(page)
    await form.getByRole('cell', { name: 'ada@example.org', exact: true }).waitFor({ state: 'detached' })
    expect(await emails()).toEqual(['bob@example.org'])
  }, 60_000)

  test('the player of a video keeps what another person has selected, and shows a conflict', async () => {
    const createProfile = async (title: string) => (await ok(api.post<{ id: string }>(`/setting/${tenant.organisationId}`, { title }))).id
    const [plain, loud] = [await createProfile('Plain'), await createProfile('Loud')]
    const theme = (await ok(api.post<{ id: string }>(`/theme/${tenant.organisationId}`, { title: 'Night' }))).id
    const path = `/video/${videoIds[0]}`
    await open(`videos/${videoIds[0]}?tab=sharing`)
    const tab = page.getByRole('tabpanel')
    const select = async (label: string, option: string) => {
      await tab.getByRole('combobox', { name: label, exact: true }).click()
      await page.getByRole('option', { name: option }).click()
    }
    const expectValue = async (label: string, value: string) => {
      const input = tab.getByRole('combobox', { name: label, exact: true })
      await waitFor(async () => (await input.inputValue()) === value, { describe: `${label} to be ${value}` })
    }
    const saveButton = tab.getByRole('button', { name: 'Save', exact: true }).first()
    await select('Theme', 'Night')
    await ok(api.patch(path, { setting_id: loud }))
    await saveButton.click()
    await expectValue('Profile', 'Loud')
    await expectValue('Theme', 'Night')
    await saveButton.click()
    await page.getByText('Saved', { exact: true }).waitFor()
    expect((await api.get(path)).body).toMatchObject({ setting_id: loud, theme_id: theme })

    await select('Profile', 'Plain')
    await ok(api.patch(path, { setting_id: '' }))
    await saveButton.click()
    await tab.getByText('Another person has changed this', { exact: false }).waitFor()
    await expectValue('Profile', 'Plain')
    await checkState(page, 'console-player-conflict')
    await tab.getByRole('button', { name: 'Save my version' }).click()
    await waitFor(async () => (await api.get<{ setting_id: string }>(path)).body.setting_id === plain, { describe: 'the own version' })
  }, 90_000)

  test('a playlist keeps the focus at a video that was moved, and does not overwrite the list of another person', async () => {
    const [first, second] = videoIds
    const path = `/playlist/create/${tenant.organisationId}`
    const { playlist_id: id } = await ok(api.post<{ playlist_id: string }>(path, { title: 'Best of', description: 'Old' }))
    await ok(api.put(`/playlist/${id}`, { videos: [first, second] }))
    const read = async () => (await api.get<{ description: string; videos: VideoRecord[] }>(`/playlist/${id}`)).body
    const titles = async () => (await read()).videos.map(({ video_title }) => video_title).join()
    await open(`playlists/${id}`)
    await page.getByRole('button', { name: 'Move Second up' }).focus()
    await page.keyboard.press('Enter')
    // The first video cannot be moved up.
    await waitFor(async () => (await page.evaluate(`document.activeElement.getAttribute('aria-label')`)) === 'Move Second down', {
      describe: 'the focus at the moved video',
    })
    await waitFor(async () => (await titles()) === 'Second,First', { describe: 'the new order' })
    await page.getByLabel('Description').fill('New')
    await save(page)
    expect((await read()).description).toBe('New')

    await open(`playlists/${id}`)
    await page.getByRole('button', { name: 'Move Second down' }).waitFor()
    await ok(api.put(`/playlist/${id}`, { videos: [second, first, second] }))
    await page.getByRole('button', { name: 'Move Second down' }).click()
    await page.getByText('Another person has changed this in the meantime.', { exact: false }).waitFor()
    await page.locator('ol > li').nth(2).waitFor()
    expect(await titles()).toBe('Second,First,Second')
    await page.getByRole('button', { name: 'Remove Second' }).last().click()
    await waitFor(async () => (await titles()) === 'Second,First', { describe: 'the removal of the last video' })
  }, 90_000)

  test('a move after a rejected one does not overwrite the list of another person', async () => {
    const [first, second] = videoIds
    const path = `/playlist/create/${tenant.organisationId}`
    const { playlist_id: id } = await ok(api.post<{ playlist_id: string }>(path, { title: 'Next' }))
    await ok(api.put(`/playlist/${id}`, { videos: [first, second] }))
    await open(`playlists/${id}`)
    await page.getByRole('button', { name: 'Move Second up' }).waitFor()
    let send = () => {}
    const isSent = new Promise<void>((resolve) => {
      send = resolve
    })
    await page.route(`**/v2/playlist/${id}`, async (route) => {
      if (route.request().method() === 'PUT') await isSent
      await route.continue()
    })
    await page.getByRole('button', { name: 'Move Second up' }).click()
    await page.getByRole('button', { name: 'Move Second down' }).click()
    await ok(api.put(`/playlist/${id}`, { videos: [first, second, second] }))
    send()
    await page.getByText('Another person has changed this in the meantime.', { exact: false }).waitFor()
    // The list of the other person is shown when both moves have ended.
    await page.locator('ol > li').nth(2).waitFor()
    const { videos } = (await api.get<{ videos: VideoRecord[] }>(`/playlist/${id}`)).body
    expect(videos.map(({ video_title }) => video_title)).toEqual(['First', 'Second', 'Second'])
    await page.unroute(`**/v2/playlist/${id}`)
  }, 60_000)

  test('videos that a change of many videos did not change stay selected, and a video can leave a folder', async () => {
    await open('videos?layout=table')
    for (const title of ['First', 'Second']) await page.getByLabel(`Select ${title}`).check()
    await page.getByRole('button', { name: 'Add tags' }).click()
    await page.getByRole('dialog').getByLabel('Tags').fill('x'.repeat(300))
    await page.getByRole('dialog').getByRole('button', { name: 'Add tags' }).click()
    await page.getByText('2 videos were not changed: Tags: must', { exact: false }).waitFor()
    expect(await page.getByLabel('Select First').isChecked()).toBe(true)

    const name = { name: 'Press', organisation_id: tenant.organisationId }
    const { id } = await ok(api.post<{ id: string }>('/folder', name))
    await ok(api.post(`/folder/${id}/video/${videoIds[0]}/add`))
    await open(`videos?layout=table&folder=${id}`)
    await page.getByLabel('Select First').check()
    await page.getByRole('button', { name: 'Remove from this folder' }).click()
    await page.getByText('No video matches these filters').waitFor()
    expect((await api.get(`/folder/${id}/video`)).body).toMatchObject({ contents: [] })
  }, 60_000)

  test('a list of many playlists has a search and pages', async () => {
    const playlist = (number: number) => api.post(`/playlist/create/${tenant.organisationId}`, { title: `Series ${number}.` })
    for (let number = 1; number <= 51; number++) await ok(playlist(number))
    await open('playlists')
    await page.getByRole('button', { name: 'Page 2' }).click()
    await page.getByRole('link', { name: 'Series 51.' }).waitFor()
    await page.getByLabel('Title or description').fill('series 7.')
    await page.getByRole('link', { name: 'Series 7.' }).waitFor()
    expect(await page.getByRole('link', { name: /^Series/ }).count()).toBe(1)
    await checkState(page, 'console-many-playlists')
  }, 60_000)

  test('a folder is renamed and deleted, and its videos stay', async () => {
    const { id } = await ok(api.post<{ id: string }>('/folder', { name: 'Drafts', organisation_id: tenant.organisationId }))
    await ok(api.post(`/folder/${id}/video/${videoIds[0]}/add`))
    const readName = async () => {
      const folders = await ok(api.get<Record<string, { name: string }>[]>(`/folder/${tenant.organisationId}`))
      return folders[0]?.[id]?.name
    }
    await open(`videos?folder=${id}`)
    await page.getByRole('region', { name: 'Folder Drafts' }).getByRole('button', { name: 'Rename' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Press')
    await dialog.getByRole('button', { name: 'Rename' }).click()
    // Another test has created a folder with this name.
    await dialog.getByRole('alert').waitFor()
    await checkState(page, 'console-rename-folder')
    await dialog.getByLabel('Name').fill('Published')
    await dialog.getByRole('button', { name: 'Rename' }).click()
    const bar = page.getByRole('region', { name: 'Folder Published' })
    await bar.waitFor()
    expect(await readName()).toBe('Published')

    await bar.getByRole('button', { name: 'Delete the folder' }).click()
    await dialog.getByText('Its videos stay', { exact: false }).waitFor()
    await confirmDelete(page)
    await page.getByRole('checkbox', { name: 'Select First' }).waitFor()
    expect(new URL(page.url()).searchParams.has('folder')).toBe(false)
    expect(await readName()).toBeUndefined()
    expect((await api.get(`/video/${videoIds[0]}`)).status).toBe(200)
  }, 60_000)

  test('a space at the end of a search stays while its results are shown', async () => {
    await open('videos')
    const search = page.getByRole('searchbox')
    await search.pressSequentially('First ')
    await page.waitForURL(/q=First/)
    // Results of a search have an order of their own.
    await waitFor(() => page.getByRole('combobox', { name: 'Order' }).isDisabled(), { describe: 'the results of the search' })
    expect(await search.inputValue()).toBe('First ')
  }, 60_000)

  test('addresses of videos stay after a click outside, and those that are rejected are named', async () => {
    await open('videos')
    await page.getByRole('button', { name: 'Upload videos' }).first().click()
    const addresses = page.getByLabel('Addresses of videos, one per line')
    await addresses.fill(`ftp://example.org/a\nno address\n${sources.url}/small.mp4?again`)
    await clickOutside()
    expect(await addresses.inputValue()).toContain('ftp://example.org/a')
    await page.getByRole('button', { name: 'Fetch' }).click()
    for (const rejected of [/^ftp:\/\/example\.org\/a: /, /^no address: /]) await page.getByText(rejected).waitFor()
    expect(await addresses.inputValue()).toBe('ftp://example.org/a\nno address')
  }, 60_000)

  test('addresses of videos stay when files are selected', async () => {
    await page.locator('input[type=file]').setInputFiles(join(folder, 'small.mp4'))
    await page.getByRole('region', { name: 'Uploads' }).getByText('Ready').waitFor({ timeout: 60_000 })
    expect(await page.getByLabel('Addresses of videos, one per line').inputValue()).toBe('ftp://example.org/a\nno address')
  }, 90_000)
})
