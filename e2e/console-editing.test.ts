import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { browserPath, waitFor } from '@vitascope/testing'
import type { Page } from 'playwright-core'
import type { Api } from './support/api.ts'
import { createPerson, ok, readFirstVideo, save, signIn } from './support/console-page.ts'
import { type OpenConsole, openConsole } from './support/open-console.ts'
import { checkState } from './support/page-state.ts'
import type { SourceServer } from './support/source-server.ts'
import type { TestPlatform } from './support/test-platform.ts'
import { type Tenant, upload, waitUntilSettled } from './support/video-steps.ts'

const browserFile = browserPath()
const describeInBrowser = browserFile === undefined ? describe.skip : describe
const EMAIL = 'ada@example.org'
const PASSWORD = 'correct horse battery'

let platform: TestPlatform
let sources: SourceServer
let tenant: Tenant
let api: Api
let opened: OpenConsole | undefined
let page: Page
let problems: string[]

/** Changes that are not saved yet, or that two people make. Each test continues in the state in which the previous one ended. */
describeInBrowser('the console', () => {
  beforeAll(async () => {
    opened = await openConsole(browserFile, { email: EMAIL, password: PASSWORD, name: 'Ada Byron', userType: 'standard' }, ['small.mp4'])
    ;({ sources, platform, tenant, api, page, problems } = opened)
    page.on('dialog', (dialog) => void dialog.accept())
    const { id } = await upload(api, tenant.organisationId, `${sources.url}/small.mp4`)
    await waitUntilSettled(api, id)
  }, 120_000)
  afterAll(() => opened?.close())
  beforeEach(() => {
    problems.length = 0
  })
  afterEach(() => {
    expect(problems).toEqual([])
  })

  test('a change of other fields by another person does not conflict', async () => {
    const { video_id } = await readFirstVideo(api)
    await page.goto(`${platform.url}/console/videos/${video_id}`)
    await page.getByLabel('Description').fill('mine')
    await api.patch(`/video/${video_id}`, { language: 'fr', category: 'News' })
    await save(page)
    expect(await readFirstVideo(api)).toMatchObject({ description: 'mine', language: 'fr', category: 'News' })
    expect(await page.getByLabel('Language').inputValue()).toBe('fr')
  }, 60_000)

  test('keeps what another person has set, and shows it before it is overwritten', async () => {
    const { video_id } = await readFirstVideo(api)
    const change = async (fields: object) => expect((await api.patch(`/video/${video_id}`, fields)).status).toBe(200)
    const tab = page.getByRole('tabpanel')
    await page.goto(`${platform.url}/console/videos/${video_id}?tab=protection`)
    const expiry = page.getByLabel('Not available after')
    await expiry.waitFor()
    await change({ security: { token_required_platform: true } })
    await expiry.fill('2040-01-01T10:00')
    await tab.getByRole('button', { name: 'Save', exact: true }).click()
    const readExpiry = async () => ((await readFirstVideo(api))['content_expiry'] as { time: string | null }).time ?? ''
    await waitFor(async () => (await readExpiry()).startsWith('2040'), { describe: 'the expiry to be saved' })
    expect(await readFirstVideo(api)).toMatchObject({ security: { token_required_platform: true } })

    const isRestricted = async () => ((await readFirstVideo(api))['security'] as { is_ip_restricted: boolean }).is_ip_restricted
    await page.getByLabel('Allowed IP addresses').fill('300.0.0.1')
    await tab.getByRole('button', { name: 'Save', exact: true }).click()
    await tab.getByText('must be an address, or a network', { exact: false }).waitFor()
    await page.getByLabel('Allowed IP addresses').fill('10.0.0.0/8')
    await expiry.fill('2020-01-01T10:00')
    await tab.getByRole('button', { name: 'Save', exact: true }).click()
    await tab.getByText('Only some addresses may watch.', { exact: false }).waitFor()
    await page.getByText('Expired', { exact: true }).waitFor()
    await checkState(page, 'console-expired')
    expect(await isRestricted()).toBe(true)
    await tab.getByRole('button', { name: 'Allow all addresses' }).click()
    await tab.getByRole('button', { name: 'Save', exact: true }).click()
    await waitFor(async () => !(await isRestricted()), { describe: 'the addresses to be removed' })

    await page.goto(`${platform.url}/console/videos/${video_id}?tab=chapters`)
    await tab.getByRole('button', { name: 'Add a chapter' }).click()
    await page.getByLabel('Title of chapter 1').fill('Mine')
    await change({ chapters: [{ start: 1, title: 'Theirs' }] })
    const chapters = async () => ((await readFirstVideo(api))['chapters'] as { title: string }[]).map(({ title }) => title)
    await tab.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Another person has changed the same fields').waitFor()
    expect(await chapters()).toEqual(['Theirs'])
    await page.getByRole('button', { name: 'Save my version' }).click()
    await waitFor(async () => (await chapters()).join() === 'Mine', { describe: 'the chapters to be saved' })
    await change({ chapters: [], content_expiry: { time: null }, security: { token_required_platform: false } })
  }, 90_000)

  test('merges caption lines, overlays and metadata with those of another person', async () => {
    const { video_id, media_id } = await readFirstVideo(api)
    const toVtt = (...lines: string[]) =>
      `WEBVTT\n\n${lines.map((line, index) => `00:0${index}.000 --> 00:0${index + 1}.000\n${line}\n`).join('\n')}`
    const captions = { media_id, title: 'English', language: 'en', format: 'vtt', content: toVtt('one', 'two') }
    await ok(api.post('/caption', captions))
    await ok(api.post('/overlay', { title: 'Tickets', associated_with_media_id: media_id }))
    await ok(api.post(`/metadata/${video_id}`, [{ name: 'audience', value: 'talk', private: false }]))
    const created = (await readFirstVideo(api)) as unknown as {
      captions: { data: { caption_id: string }[] }
      overlays: { overlay_id: string }[]
    }
    const [captionId, overlayId] = [created.captions.data[0]?.caption_id, created.overlays[0]?.overlay_id]
    const tab = page.getByRole('tabpanel')
    const alert = page.getByRole('alert').filter({ hasText: 'Another person has changed' })

    await page.goto(`${platform.url}/console/videos/${video_id}?tab=captions`)
    await tab.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Text of line 1').fill('mine')
    await ok(api.put(`/caption/${captionId}`, { format: 'vtt', content: toVtt('one', 'theirs') }))
    await tab.getByRole('button', { name: 'Save the lines' }).click()
    await tab.getByRole('button', { name: 'Edit' }).click()
    expect(await page.getByLabel('Text of line 1').inputValue()).toBe('mine')
    expect(await page.getByLabel('Text of line 2').inputValue()).toBe('theirs')
    await page.getByLabel('Text of line 1').fill('mine again')
    await ok(api.put(`/caption/${captionId}`, { format: 'vtt', content: toVtt('also theirs', 'theirs') }))
    await tab.getByRole('button', { name: 'Save the lines' }).click()
    await alert.getByText('Their version of Text of line 1:').getByText('also theirs').waitFor()
    await checkState(page, 'console-caption-conflict')
    await alert.getByRole('button', { name: 'Load their version' }).click()
    expect(await page.getByLabel('Text of line 1').inputValue()).toBe('also theirs')
    await tab.getByRole('button', { name: 'Cancel' }).click()

    await page.getByRole('tab', { name: 'Overlays' }).click()
    await tab.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Text of the link').fill('Buy')
    await ok(api.put(`/overlay/${overlayId}`, { title: 'Seats' }))
    await tab.getByRole('button', { name: 'Save the overlay' }).click()
    await tab.getByText('Seats').waitFor()
    const readOverlay = async () => ((await readFirstVideo(api))['overlays'] as unknown[])[0]
    expect(await readOverlay()).toMatchObject({ title: 'Seats', link_text: 'Buy' })
    await tab.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Text of the link').fill('Buy one')
    await ok(api.put(`/overlay/${overlayId}`, { link_text: 'Buy two' }))
    await tab.getByRole('button', { name: 'Save the overlay' }).click()
    await alert.getByRole('button', { name: 'Save my version' }).click()
    await alert.waitFor({ state: 'detached' })
    expect(await readOverlay()).toMatchObject({ title: 'Seats', link_text: 'Buy one' })

    await page.getByRole('tab', { name: 'Details' }).click()
    const value = page.getByLabel('Value of entry 1')
    await value.fill('mine')
    await ok(api.put(`/metadata/${video_id}`, [{ name: 'audience', value: 'theirs' }]))
    await page.getByRole('button', { name: 'Save the metadata' }).click()
    await alert.getByText('Another person has changed audience.', { exact: false }).waitFor()
    await page.getByRole('button', { name: 'Save the metadata' }).click()
    await page.getByRole('button', { name: 'Save the metadata' }).waitFor({ state: 'detached' })
    expect((await readFirstVideo(api))['metadata']).toMatchObject({
      public: expect.arrayContaining([expect.objectContaining({ name: 'audience', value: 'mine' })]),
    })
    await ok(api.delete(`/caption/${captionId}`))
    await ok(api.delete(`/overlay/${overlayId}`))
  }, 120_000)

  test('a tab of the browser does not continue with the session of another user', async () => {
    await createPerson(platform.system, { email: 'bob@example.org', name: 'Bob Ray', userType: 'uploader', password: PASSWORD, ...tenant })
    const other = await page.context().newPage()
    try {
      await other.goto(`${platform.url}/console/videos`)
      await other.getByRole('heading', { name: 'Videos' }).waitFor()
      await page.goto(`${platform.url}/console/videos`)
      await page.getByRole('button', { name: 'Sign out' }).click()
      await other.getByRole('dialog', { name: 'Sign in again' }).waitFor()
      await signIn(page, 'bob@example.org', PASSWORD)
      await page.getByRole('heading', { name: 'Videos' }).waitFor()
      const dialog = other.getByRole('dialog', { name: 'Sign in again' })
      await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD)
      await dialog.getByRole('button', { name: 'Sign in', exact: true }).click()
      await dialog.waitFor({ state: 'detached' })
      await page.getByRole('dialog', { name: 'Sign in again' }).waitFor()
      await page.goto(`${platform.url}/console/videos`)
      await page.getByText('Ada Byron').waitFor()
    } finally {
      await other.close()
    }
  }, 90_000)

  test('keeps unsaved changes of a tab, and does not lose them by a change of the page without a question', async () => {
    const { video_id } = await readFirstVideo(api)
    await api.patch(`/video/${video_id}`, { chapters: [{ start: 0.5, title: 'Half a second' }] })
    await page.goto(`${platform.url}/console/videos/${video_id}?tab=chapters`)
    const tab = page.getByRole('tabpanel')
    const start = page.getByLabel('Start of chapter 1')
    expect(await start.inputValue()).toBe('00:00:00.500')
    await tab.getByRole('button', { name: 'Add a chapter' }).click()
    await page.getByLabel('Start of chapter 2').fill('9:59')
    await tab.getByText('The video ends at 0:06').waitFor()
    await page.getByLabel('Start of chapter 2').fill('0:02')
    await page.getByLabel('Title of chapter 2').fill('Unsaved')
    const questions: string[] = []
    page.removeAllListeners('dialog')
    page.on('dialog', (dialog) => {
      questions.push(dialog.type())
      void dialog.dismiss()
    })
    for (const [name, shown] of [
      ['Captions', 'Add captions'],
      ['Details', 'Save'],
      ['Access', 'Check'],
    ] as const) {
      await page.getByRole('tab', { name }).click()
      await tab.getByRole('button', { name: shown, exact: true }).waitFor()
    }
    await page.getByRole('tab', { name: /^Chapters/ }).click()
    expect(questions).toEqual([])
    expect(await page.getByLabel('Title of chapter 2').inputValue()).toBe('Unsaved')
    await page.getByRole('tab', { name: 'Captions' }).click()
    expect(
      await page
        .getByRole('tab', { name: /^Chapters/ })
        .getByLabel('Changes are not saved')
        .count(),
    ).toBe(1)
    await checkState(page, 'console-unsaved-tab')
    await page.getByRole('link', { name: 'Playlists' }).click()
    await waitFor(() => questions.length === 1, { describe: 'the question before the page is left' })
    await page.getByRole('tab', { name: /^Chapters/ }).click()
    await tab.getByRole('button', { name: 'Save', exact: true }).click()
    await tab.getByRole('button', { name: 'Discard changes' }).waitFor({ state: 'detached' })
    expect((await readFirstVideo(api))['chapters']).toEqual([
      { start: '0.5', title: 'Half a second' },
      { start: '2', title: 'Unsaved' },
    ])
    await page.getByRole('link', { name: 'Playlists' }).click()
    await page.getByRole('heading', { name: 'Playlists' }).waitFor()
    expect(questions).toEqual(['confirm'])
    page.removeAllListeners('dialog')
    page.on('dialog', (dialog) => void dialog.accept())
    await api.patch(`/video/${video_id}`, { chapters: [] })
  }, 90_000)

  test('keeps what is typed while a form is being saved', async () => {
    const { video_id } = await readFirstVideo(api)
    const tab = page.getByRole('tabpanel')
    /** Saves the form, and enters a text in a field before the platform receives the request. */
    const typeDuringSave = async (label: string, typed: string) => {
      let send = () => {}
      const isSent = new Promise<void>((resolve) => {
        send = resolve
      })
      const pattern = `**/v2/video/${video_id}`
      await page.route(pattern, async (route) => {
        await isSent
        await route.continue()
      })
      const requested = page.waitForRequest((request) => request.method() === 'PATCH')
      await tab.getByRole('button', { name: 'Save', exact: true }).click()
      await requested
      await page.getByLabel(label).fill(typed)
      send()
      await page.getByText('Saved', { exact: true }).waitFor()
      await page.unroute(pattern)
      expect(await page.getByLabel(label).inputValue()).toBe(typed)
    }
    await page.goto(`${platform.url}/console/videos/${video_id}?tab=chapters`)
    await tab.getByRole('button', { name: 'Add a chapter' }).click()
    await page.getByLabel('Title of chapter 1').fill('Launch')
    await typeDuringSave('Title of chapter 1', 'Launch of the rocket')
    expect((await readFirstVideo(api))['chapters']).toEqual([{ title: 'Launch', start: '0' }])

    await page.goto(`${platform.url}/console/videos/${video_id}?tab=protection`)
    await page.getByLabel('Not available after').fill('2040-01-01T10:00')
    await typeDuringSave('Not available after', '2041-01-01T10:00')
    await ok(api.patch(`/video/${video_id}`, { chapters: [], content_expiry: { time: null } }))
  }, 60_000)

  test('another form of the same tab does not replace unsaved changes without a question', async () => {
    const { video_id, media_id } = await readFirstVideo(api)
    for (const title of ['First', 'Second']) await ok(api.post('/overlay', { title, associated_with_media_id: media_id }))
    await page.goto(`${platform.url}/console/videos/${video_id}?tab=overlays`)
    const tab = page.getByRole('tabpanel')
    const linkText = page.getByLabel('Text of the link')
    await tab.getByRole('button', { name: 'Edit' }).first().click()
    await linkText.fill('Unsaved')
    const questions: string[] = []
    page.removeAllListeners('dialog')
    page.on('dialog', (dialog) => {
      questions.push(dialog.type())
      void dialog.dismiss()
    })
    for (const name of ['Edit', 'Add an overlay']) await tab.getByRole('button', { name }).click()
    await waitFor(() => questions.length === 2, { describe: 'two questions before the form is replaced' })
    expect([questions, await linkText.inputValue()]).toEqual([['confirm', 'confirm'], 'Unsaved'])
    page.removeAllListeners('dialog')
    page.on('dialog', (dialog) => void dialog.accept())
    await tab.getByRole('button', { name: 'Edit' }).click()
    await waitFor(async () => (await linkText.inputValue()) === '', { describe: 'the form of the other overlay' })
    const { overlays } = (await readFirstVideo(api)) as unknown as { overlays: { overlay_id: string }[] }
    for (const { overlay_id } of overlays) await ok(api.delete(`/overlay/${overlay_id}`))
  }, 60_000)

  test('keeps the keyboard focus after a form is saved or discarded, and shows the new title in the player', async () => {
    const { video_id, video_title } = (await readFirstVideo(api)) as unknown as { video_id: string; video_title: string }
    await page.goto(`${platform.url}/console/videos/${video_id}`)
    const saveButton = page.getByRole('button', { name: 'Save', exact: true }).first()
    const readFocus = () => page.evaluate('document.activeElement.textContent')
    await page.getByLabel('Title', { exact: true }).fill('Another title')
    await saveButton.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Another title' }).waitFor()
    await page.frameLocator('iframe.player-frame').getByText('Another title').first().waitFor({ state: 'attached' })
    expect([await saveButton.isDisabled(), await readFocus()]).toEqual([true, 'Save'])
    await page.getByLabel('Title', { exact: true }).fill('Discarded')
    await page.getByRole('button', { name: 'Discard changes' }).first().focus()
    await page.keyboard.press('Enter')
    expect([await page.getByLabel('Title', { exact: true }).inputValue(), await readFocus()]).toEqual(['Another title', 'Save'])
    await api.patch(`/video/${video_id}`, { video_title })
  }, 60_000)

  test('keeps what was typed in a profile that another person changes before a new sign-in', async () => {
    const { id } = await ok(api.post<{ id: string }>(`/setting/${tenant.organisationId}`, { title: 'Plain' }))
    await page.goto(`${platform.url}/console/profiles`)
    await page.getByRole('button', { name: 'Edit: Plain' }).click()
    const name = page.getByLabel('Name')
    await name.fill('Typed')
    await ok(api.put(`/setting/${id}`, { title: 'Theirs' }))
    await page.evaluate(`fetch('/v2/session', { method: 'DELETE' })`)
    await waitFor(async () => (await page.evaluate(`fetch('/v2/session').then(({ status }) => status)`)) === 401, {
      describe: 'the end of the session',
    })
    const saveButton = page.getByRole('button', { name: 'Save', exact: true })
    await saveButton.click()
    const dialog = page.getByRole('dialog', { name: 'Sign in again' })
    await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await dialog.getByRole('button', { name: 'Sign in', exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
    await saveButton.click()
    await page.getByText('Another person has changed this since you opened it.').waitFor()
    expect(await name.inputValue()).toBe('Typed')
  }, 60_000)

  test('says that a video was deleted by another person, and keeps what was typed', async () => {
    const { id } = await upload(api, tenant.organisationId, `${sources.url}/small.mp4`)
    await page.goto(`${platform.url}/console/videos/${id}`)
    await page.getByLabel('Description').fill('typed')
    const { media_id } = (await api.get<{ media_id: string }>(`/video/${id}`)).body
    expect(
      (await api.send('DELETE', '/media', { body: JSON.stringify({ media_id }), headers: { 'content-type': 'application/json' } })).status,
    ).toBe(200)
    await page.getByRole('button', { name: 'Save', exact: true }).first().click()
    await page.getByText('This video has been deleted.').waitFor()
    expect(await page.getByLabel('Description').inputValue()).toBe('typed')
  }, 60_000)

  test('stores chapters, in the order of their starts', async () => {
    const { video_id } = await readFirstVideo(api)
    await page.goto(`${platform.url}/console/videos/${video_id}?tab=chapters`)
    for (const [number, start, title] of [
      [1, '0:04', 'Launch'],
      [2, '0:00', 'Countdown'],
    ] as const) {
      await page.getByRole('button', { name: 'Add a chapter' }).click()
      await page.getByLabel(`Start of chapter ${number}`).fill(start)
      await page.getByLabel(`Title of chapter ${number}`).fill(title)
    }
    await page.getByRole('button', { name: 'Save', exact: true }).last().click()
    await waitFor(async () => ((await readFirstVideo(api))['chapters'] as unknown[]).length === 2)
    expect((await readFirstVideo(api))['chapters']).toEqual([
      { title: 'Countdown', start: '0' },
      { title: 'Launch', start: '4' },
    ])
  }, 60_000)

  test('says that there is no such video or playlist', async () => {
    for (const path of ['videos/999999999', 'playlists/999999999']) {
      await page.goto(`${platform.url}/console/${path}`)
      await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
    }
  }, 60_000)
})
