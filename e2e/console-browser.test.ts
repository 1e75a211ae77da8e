import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { browserArguments, browserPath, extendTimeout, waitFor } from '@vitascope/testing'
import { type Browser, chromium, type Page } from 'playwright-core'
import type { Api } from './support/api.ts'
import {
  createPerson,
  expectNoSidewaysScroll,
  listAllVideos,
  openConsolePage,
  readFirstVideo,
  readScriptBytes,
  save,
  settle,
  signIn,
} from './support/console-page.ts'
import { readLinkMail } from './support/link-mail.ts'
import { checkState } from './support/page-state.ts'
import { makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, type Tenant, type VideoRecord } from './support/video-steps.ts'

const browserFile = browserPath()
const describeInBrowser = browserFile === undefined ? describe.skip : describe
const EMAIL = 'ada@example.org'
const PASSWORD = 'correct horse battery'
const HOSTILE = `<img src=x onerror=alert(1)>"'{{7*7}}`
const VTT = 'WEBVTT\n\n00:00:00.000 --> 00:00:01.000 align:start\nGood evening\n\n00:00:01.000 --> 00:00:02.000\nThe <b>launch</b>\n'
const MAX_SCRIPT_BYTES = 252 * 1_024
/** Additional scripts of pages with charts. */
const CHART_BYTES = 26_000
/** Additional scripts of the form of a video, which stays loaded when another tab is shown. */
const FORM_BYTES = 15_000

let folder: string
let platform: TestPlatform
let tenant: Tenant
let api: Api
let browser: Browser
let page: Page
let problems: string[]
const listVideos = () => listAllVideos(api)
const onlyVideo = () => readFirstVideo(api)

/** Work of one editor. Each test continues in the state in which the previous one ended. */
describeInBrowser('the console', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'console-'))
    await makeSource(folder, 'small.mp4')
    await writeFile(join(folder, 'talk.en.vtt'), VTT)
    await writeFile(join(folder, 'notes.txt'), 'no video')
    platform = await startTestPlatform()
    tenant = await createTenant(platform.system)
    api = platform.withKey(tenant.key)
    await createPerson(platform.system, { email: EMAIL, name: 'Ada Byron', userType: 'standard', password: PASSWORD, ...tenant })
    browser = await chromium.launch({ executablePath: browserFile ?? '', args: [...browserArguments] })
    page = await openConsolePage(browser, (problem) => problems.push(problem))
    page.on('dialog', (dialog) => {
      if (dialog.type() === 'alert') problems.push(`dialog: ${dialog.message()}`)
      void dialog.accept()
    })
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await platform?.remove()
    await rm(folder, { recursive: true, force: true })
  })
  beforeEach(() => {
    problems = []
  })
  afterEach(() => {
    expect(problems).toEqual([])
  })

  test('rejects a wrong password and accepts the right one, with a cookie that scripts cannot read', async () => {
    const provider = page.waitForResponse('**/v2/session/oidc')
    await page.goto(`${platform.url}/console/videos?order=name`)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(await (await provider).json()).toEqual({ configured: false })
    await checkState(page, 'console-sign-in')
    await signIn(page, EMAIL, 'a wrong password')
    await page.getByRole('alert').filter({ hasText: 'email address or the password is wrong' }).waitFor()
    expect(await page.getByRole('button', { name: 'Use single sign-on' }).count()).toBe(0)
    await signIn(page, EMAIL, PASSWORD)
    await page.getByRole('heading', { name: 'Videos' }).waitFor()
    expect(page.url()).toContain('order=name')
    expect(await page.evaluate('document.cookie')).toBe('')
    const [cookie] = await page.context().cookies()
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Lax' })
  }, 60_000)

  test('uploads files of the computer and shows them as soon as they can be played', async () => {
    await page.getByRole('button', { name: 'Upload videos' }).first().click()
    await page.locator('input[type=file]').setInputFiles(['small.mp4', 'notes.txt', 'talk.en.vtt'].map((name) => join(folder, name)))
    await page.getByText('notes.txt is not a video and was skipped. talk.en.vtt is not a video and was skipped.').waitFor()
    const list = page.getByRole('region', { name: 'Uploads' })
    await list.getByText('Ready').waitFor({ timeout: extendTimeout(90_000) })
    await page.locator('.video-card').filter({ hasText: 'small' }).waitFor()
    await list.getByRole('link', { name: 'Open' }).click()
    await page.frameLocator('iframe').locator('video').waitFor()
    expect((await listVideos()).map(({ video_title }) => video_title)).toEqual(['small'])
    await list.getByRole('button', { name: 'Clear finished' }).click()
  }, 150_000)

  test('stores changes, and shows those of another person before it overwrites them', async () => {
    const { video_id } = await onlyVideo()
    await page.getByLabel('Title').fill(HOSTILE)
    await page.getByLabel('Internal notes').fill('Ask first.')
    await save(page)
    expect(await onlyVideo()).toMatchObject({ video_title: HOSTILE, description_private: 'Ask first.' })
    await page.getByRole('heading', { name: HOSTILE }).waitFor()

    await page.getByLabel('Description').fill('mine')
    await api.patch(`/video/${video_id}`, { description: 'theirs', category: 'News' })
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    const alert = page.getByRole('alert').filter({ hasText: 'Another person has changed the same fields' })
    await alert.getByText('Description: save your version').waitFor()
    expect(await onlyVideo()).toMatchObject({ description: 'theirs' })
    await alert.getByRole('button', { name: 'Save my version' }).click()
    await waitFor(async () => (await onlyVideo())['description'] === 'mine')
    expect(await onlyVideo()).toMatchObject({ category: 'News' })
    await alert.waitFor({ state: 'detached' })
  }, 60_000)

  test('keeps what was typed when the session ends, and continues after a new sign-in', async () => {
    await page.getByLabel('Category').fill('Culture')
    await page.evaluate(`fetch('/v2/session', { method: 'DELETE' })`)
    await waitFor(async () => (await page.evaluate(`fetch('/v2/session').then(({ status }) => status)`)) === 401, {
      describe: 'the session to end',
    })
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Sign in again' })
    await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    await dialog.waitFor({ state: 'hidden' })
    expect(await page.getByLabel('Category').inputValue()).toBe('Culture')
    await save(page)
    expect(await onlyVideo()).toMatchObject({ category: 'Culture' })
  }, 60_000)

  test('adds, edits and deletes captions', async () => {
    await page.getByRole('tab', { name: 'Captions' }).click()
    await page.getByRole('button', { name: 'Add captions' }).click()
    await page.getByLabel('Title').last().fill('English')
    await page.getByLabel('Language').last().fill('en')
    await page.locator('input[type=file][accept*=vtt]').setInputFiles(join(folder, 'talk.en.vtt'))
    await page.getByRole('button', { name: 'Add captions' }).click()
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Text of line 1').fill('Good morning')
    await page.getByRole('button', { name: 'Add a line below line 1', exact: true }).click()
    await page.getByLabel('Text of line 2', { exact: true }).fill('Questions & answers')
    await page.getByRole('button', { name: 'Save the lines' }).click()
    await page.getByRole('button', { name: 'Edit' }).click()
    expect(await page.getByLabel('Text of line 2', { exact: true }).inputValue()).toBe('Questions & answers')
    await checkState(page, 'console-caption-lines')
    await page.getByRole('button', { name: 'Remove line 2', exact: true }).click()
    await page.getByRole('button', { name: 'Save the lines' }).click()
    await page.getByRole('link', { name: 'Download as WebVTT' }).waitFor()
    const downloads = await page.getByRole('link', { name: /^Download as/ }).all()
    expect(downloads).toHaveLength(3)
    for (const download of downloads) {
      const response = await page.request.get(`${platform.url}${await download.getAttribute('href')}`)
      expect([response.status(), await response.text()]).toEqual([200, expect.stringMatching(/^(?!.*Questions).*Good morning/s)])
    }
    await page.locator('li').filter({ hasText: 'English' }).getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('There are no captions yet').waitFor()
  }, 60_000)

  test('shows the embed code, protects the video and explains the decision', async () => {
    const { video_id } = await onlyVideo()
    await page.getByRole('tab', { name: 'Share' }).click()
    await waitFor(async () => (await page.getByLabel('Embed code', { exact: true }).inputValue()).includes(`/player/${video_id}`))
    await page.getByRole('tab', { name: 'Access' }).click()
    await page.getByLabel('Viewers need a signed token').check({ force: true })
    await page.getByRole('button', { name: 'Save', exact: true }).last().click()
    await waitFor(async () => JSON.stringify((await onlyVideo())['security']).includes('"token_required_platform":true'))
    await page.getByLabel('IP address of the viewer').fill('192.0.2.7')
    await page.getByRole('button', { name: 'Check' }).click()
    await page.getByText('The viewer cannot watch: token_required').waitFor()
    // The editor still sees it, by a token of their own.
    await page.frameLocator('iframe').locator('video').waitFor()
  }, 60_000)

  test('changes many videos at once, and finds them by their state and tag', async () => {
    const { media_id } = await onlyVideo()
    for (const title of ['Second', 'Third']) {
      const { body } = await api.post<{ video_id: string }>(`/media/${media_id}/publish`)
      await api.patch(`/video/${body.video_id}`, { video_title: title })
    }
    await page.goto(`${platform.url}/console/videos?layout=table`)
    for (const title of ['Second', 'Third']) await page.getByLabel(`Select ${title}`).check()
    await page.getByRole('button', { name: 'Set visibility' }).click()
    await page.getByRole('menuitem', { name: 'Private' }).click()
    await page.getByText('2 videos were changed.').waitFor()
    const isPrivate = ({ visibility }: Record<string, unknown>) => visibility === 'private'
    expect((await listVideos()).filter(isPrivate)).toHaveLength(2)
    await page.getByLabel('Select Second').check()
    await page.getByRole('button', { name: 'Add tags' }).click()
    await page.getByRole('dialog').getByLabel('Tags').fill('orbit')
    await page.getByRole('dialog').getByRole('button', { name: 'Add tags' }).click()
    await page.getByText('1 video was changed.').waitFor()
    await page.goto(`${platform.url}/console/videos?layout=table&tag=orbit&status=ok`)
    await page.getByText('1 video', { exact: true }).waitFor()
    await page.getByRole('combobox', { name: 'Tag' }).click()
    await page.getByRole('option', { name: 'orbit (1)' }).waitFor()
    await page.goto(`${platform.url}/console/videos?layout=table`)
    await page.getByLabel('Select Third').check()
    await page.getByRole('button', { name: 'Add to folder' }).click()
    await page.getByRole('dialog').getByRole('combobox', { name: 'Folder' }).fill('Press')
    await page.getByRole('dialog').getByRole('button', { name: 'Add to folder' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('combobox', { name: 'Folder' }).click()
    await page.getByRole('option', { name: 'Press' }).click()
    await page.getByText('1 video', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Third' }).waitFor()
    await page.goto(`${platform.url}/console/videos?layout=table&tag=unknown`)
    await page.getByText('No video matches these filters').waitFor()
    await page.getByRole('button', { name: 'Clear the filters' }).click()
    await page.getByText('3 videos', { exact: true }).waitFor()
  }, 60_000)

  test('creates a playlist and changes its order', async () => {
    await page.getByRole('link', { name: 'Playlists' }).click()
    await page.getByRole('button', { name: 'Create a playlist' }).click()
    await page.getByRole('dialog').getByLabel('Title').fill('Best of')
    await page.getByRole('dialog').getByRole('button', { name: 'Create a playlist' }).click()
    for (const title of ['Third', HOSTILE]) {
      await page.getByRole('combobox', { name: 'Add a video' }).click()
      await page.getByRole('option', { name: title }).click()
      await page.locator('ol').getByText(title).waitFor()
    }
    await page.getByLabel('Title').fill('The best')
    await save(page)
    await page.getByRole('heading', { name: 'The best' }).waitFor()
    await checkState(page, 'console-playlist')
    await page.getByRole('button', { name: `Move ${HOSTILE} up` }).click()
    const id = page.url().split('/').at(-1)
    const titles = async () =>
      (await api.get<{ videos: VideoRecord[] }>(`/playlist/${id}`)).body.videos.map(({ video_title }) => video_title)
    await waitFor(async () => (await titles())[0] === HOSTILE)
    await page.getByRole('button', { name: 'Remove Third' }).click()
    await waitFor(async () => (await titles()).length === 1)
  }, 60_000)

  test('creates a contact form, and exports what viewers submit', async () => {
    await page.getByRole('link', { name: 'Contact forms' }).click()
    await page.getByRole('button', { name: 'Create a form' }).click()
    const form = page.getByRole('dialog')
    await form.getByLabel('Internal name').fill('Tickets')
    await form.getByLabel('Text', { exact: false }).first().fill('Who are you?')
    await form.getByLabel('Label of the button').fill('Send')
    await form.getByRole('button', { name: 'Create a form' }).click()
    await page.getByText('Tickets').waitFor()
    const [{ id }] = (await api.get<[{ id: string }]>('/contact-form')).body
    const submission = { email: 'eve@example.org', name: '=1+1' }
    expect((await platform.guest.post(`/contact-form/${id}/submission`, submission)).status).toBe(201)
    await page.getByRole('button', { name: 'Submissions' }).click()
    await page.getByText('eve@example.org').waitFor()
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export as CSV' }).click()])
    const csv = await text(await download.createReadStream())
    expect(csv.split('\r\n')[1]).toMatch(/"eve@example.org","'=1\+1","","0",""$/)
  }, 60_000)

  test('shows who has changed what', async () => {
    await page.getByRole('link', { name: 'History' }).click()
    await page.getByRole('row').filter({ hasText: 'contact-form::post' }).filter({ hasText: 'Ada Byron' }).waitFor()
    await page.getByLabel('Path').fill(`/v2/video/${(await onlyVideo()).video_id}`)
    await page.getByRole('row').filter({ hasText: 'contact-form::post' }).waitFor({ state: 'detached' })
    await page
      .getByRole('row')
      .filter({ hasText: `/video/${(await onlyVideo()).video_id}` })
      .first()
      .waitFor()
  }, 60_000)

  test('manages webhooks and users', async () => {
    await page.getByRole('link', { name: 'Webhooks' }).click()
    await page.getByRole('button', { name: 'Add a webhook' }).click()
    await page.getByRole('dialog').getByLabel('Address').fill('https://hooks.example.org/video')
    await page.getByRole('dialog').getByRole('button', { name: 'Add a webhook' }).click()
    await page.getByLabel('Signing secret', { exact: true }).waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
    await page.getByRole('button', { name: 'Send a test event' }).click()
    await page.getByRole('button', { name: 'Deliveries' }).click()
    await page.getByText('webhook.test').waitFor()
    await page.getByRole('button', { name: 'Deactivate' }).click()
    await page.getByRole('button', { name: 'Activate' }).waitFor()

    await page.getByRole('link', { name: 'Users' }).click()
    await page.getByRole('button', { name: 'Add a user' }).click()
    const form = page.getByRole('dialog')
    await form.getByLabel('First name').fill('Grace')
    await form.getByLabel('Last name').fill('Hopper')
    await form.getByLabel('Email address').fill('grace@example.org')
    await form.getByLabel(/^Password/).fill('short')
    await form.getByRole('button', { name: 'Add a user' }).click()
    await form.getByText('at least 8', { exact: false }).waitFor()
    await form.getByLabel(/^Password/).fill('')
    await form.getByRole('button', { name: 'Add a user' }).click()
    await page.getByRole('row').filter({ hasText: 'grace@example.org' }).waitFor()
    const { link } = await readLinkMail({ platform }, 'grace@example.org')
    await page.getByText('Invited', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Send the invitation again' }).click()
    await page.getByText('The invitation was sent to grace@example.org.').waitFor()
    const context = await browser.newContext()
    try {
      const invited = await context.newPage()
      await invited.goto(`${platform.url}/console/sign-in#link=${link}`)
      await invited.getByLabel('New password').fill(PASSWORD)
      await invited.getByRole('button', { name: 'Sign in' }).click()
      await invited.getByRole('heading', { name: 'Videos' }).waitFor()
      expect(invited.url()).not.toContain(link)
    } finally {
      await context.close()
    }
  }, 90_000)

  test.each(['videos', 'videos?layout=table', 'playlists', 'analytics', 'webhooks', 'users', 'forms', 'audit', 'account', 'nothing'])(
    'the page %s passes axe, fits into a telephone and loads few scripts',
    async (path) => {
      await page.goto(`${platform.url}/console/${path}`)
      await settle(page)
      // The page of analytics has the library of its chart as well.
      expect(await readScriptBytes(page)).toBeLessThanOrEqual(path === 'analytics' ? MAX_SCRIPT_BYTES + CHART_BYTES : MAX_SCRIPT_BYTES)
      await checkState(page, `console-${path.replace(/\W/g, '-')}`)
      await expectNoSidewaysScroll(page)
    },
    60_000,
  )

  test.each(['details', 'captions', 'chapters', 'sharing', 'protection', 'files', 'analytics'])(
    'the tab %s of a video passes axe and fits into a telephone',
    async (tab) => {
      const { video_id } = await onlyVideo()
      await page.goto(`${platform.url}/console/videos/${video_id}?tab=${tab}`)
      await settle(page)
      await page.locator('iframe').waitFor()
      await page.evaluate(`document.querySelector('iframe').remove()`)
      expect(await readScriptBytes(page)).toBeLessThanOrEqual(MAX_SCRIPT_BYTES + FORM_BYTES + (tab === 'analytics' ? CHART_BYTES : 0))
      await checkState(page, `console-video-${tab}`)
      await expectNoSidewaysScroll(page)
    },
    60_000,
  )

  test('shows a hostile title as text on every page', async () => {
    const { video_id } = await onlyVideo()
    for (const path of ['videos', 'videos?layout=table', `videos/${video_id}`, `videos?q=img`]) {
      await page.goto(`${platform.url}/console/${path}`)
      await page.getByText(HOSTILE).first().waitFor()
      expect(await page.locator('img[src="x"]').count()).toBe(0)
    }
  }, 60_000)

  test('deletes a file with all its videos', async () => {
    const { video_id } = await onlyVideo()
    await page.goto(`${platform.url}/console/videos/${video_id}`)
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('There are no videos yet').waitFor()
    expect(await listVideos()).toEqual([])
  }, 60_000)

  test('lets system users manage keys and change the organisation', async () => {
    const email = 'root@example.org'
    await createPerson(platform.system, { email, name: 'Rosa Root', userType: 'system', password: PASSWORD, ...tenant })
    await page.getByRole('button', { name: 'Sign out' }).click()
    await signIn(page, email, PASSWORD)
    await page.getByRole('link', { name: 'API keys' }).click()
    await page.getByRole('button', { name: 'Create a key' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Newsroom')
    await page.getByRole('dialog').getByRole('button', { name: 'Create a key' }).click()
    const key = await page.getByLabel('Newsroom', { exact: true }).inputValue()
    expect((await platform.withKey(key).get('/video')).status).toBe(200)
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
    await page.getByRole('row').filter({ hasText: 'Newsroom' }).getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await waitFor(async () => (await platform.withKey(key).get('/video')).status === 401)
    await page.getByRole('combobox', { name: 'Organisation' }).click()
    await page.getByRole('option').filter({ hasNotText: 'Tenant' }).first().click()
    await page.getByRole('link', { name: 'Users' }).click()
    await page.getByRole('heading', { name: 'Users' }).waitFor()
    await page.getByText(EMAIL).waitFor({ state: 'detached' })
  }, 60_000)

  test('can be switched to German, keeps the choice, and signs out', async () => {
    await page.goto(`${platform.url}/console/account`)
    await page.getByRole('combobox', { name: 'Language of the console' }).click()
    await page.getByRole('option', { name: 'Deutsch' }).click()
    await page.getByRole('heading', { name: 'Ihr Konto' }).waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Abmelden' }).click()
    await page.getByRole('heading', { name: 'Anmelden' }).waitFor()
    expect(await page.evaluate(`fetch('/v2/session').then(({ status }) => status)`)).toBe(401)
  }, 60_000)
})
