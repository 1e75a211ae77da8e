import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { browserArguments, browserPath, extendTimeout, waitFor } from '@vitascope/testing'
import { type Browser, chromium, type Page } from 'playwright-core'
import type { Api } from './support/api.ts'
import { confirmDelete, createPerson, expectNoSidewaysScroll, openConsolePage, settle, signIn } from './support/console-page.ts'
import { expectEndedLink, reviewAsGuest } from './support/guest-review-steps.ts'
import { checkState } from './support/page-state.ts'
import { buildPdf } from './support/slides.ts'
import { makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, type Tenant, type UploadResponse, waitUntilSettled } from './support/video-steps.ts'

const browserFile = browserPath()
const describeInBrowser = browserFile === undefined ? describe.skip : describe
const [EMAIL, SYSTEM_EMAIL] = ['ada@example.org', 'root@example.org']
const PASSWORD = 'correct horse battery'
const HOSTILE = `<img src=x onerror=alert(1)>"'{{7*7}}`

interface Clip {
  id: string
  comments: string
  resolved: string
  time_start: number
  time_start_millis: number
  time_finish: number
  time_finish_millis: number
}

interface Picture {
  currentTime: number
  readyState: number
}

interface Frame {
  style: { getPropertyValue(name: string): string }
  dataset: { skin?: string }
}

let folder: string
let platform: TestPlatform
let tenant: Tenant
let api: Api
let videoId: string
let browser: Browser
let page: Page
let problems: string[]

async function listClips(): Promise<Clip[]> {
  const { body } = await api.get<Record<string, { clips: Clip[] }>>(`/collaborate/${videoId}`)
  return Object.values(body).flatMap(({ clips }) => clips)
}

const readVideo = async () => (await api.get(`/video/${videoId}`)).body
const playerVideo = () => page.frameLocator('iframe').locator('video')
/** Current time of the player in seconds. */
const readPlayerTime = () => playerVideo().evaluate((video: Picture) => video.currentTime)
/** Moves the player to a time, like a viewer who drags its time bar. */
async function seekPlayer(seconds: number): Promise<void> {
  await waitFor(() => playerVideo().evaluate((video: Picture) => video.readyState > 0), { describe: 'the player to load' })
  await playerVideo().evaluate((video: Picture, time: number) => {
    video.currentTime = time
  }, seconds)
}

/** Finds a text field by its name. `getByLabel` would also require the asterisk of required fields. */
const field = (name: string) => page.getByRole('textbox', { name, exact: true })
const clipRow = (text: string) => page.getByRole('listitem').filter({ hasText: text })

async function openTab(tab: string): Promise<void> {
  await page.goto(`${platform.url}/console/videos/${videoId}?tab=${tab}`)
  await settle(page)
  await page.frameLocator('iframe').locator('video').waitFor({ state: 'attached' })
}

/** Checks the state by axe without the frame of the player, and in the width of a telephone. */
async function checkPage(name: string): Promise<void> {
  await page.evaluate(`document.querySelector('iframe')?.remove()`)
  await checkState(page, name)
  await expectNoSidewaysScroll(page)
}

/** Work with one video in the console. Each test continues in the state in which the previous one ended. */
describeInBrowser('the console', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'console-review-'))
    await makeSource(folder, 'small.mp4')
    await writeFile(join(folder, 'talk.pdf'), buildPdf(3))
    await writeFile(join(folder, 'more.pdf'), buildPdf(1))
    await writeFile(join(folder, 'broken.pdf'), 'no slides')
    platform = await startTestPlatform()
    tenant = await createTenant(platform.system)
    api = platform.withKey(tenant.key)
    await createPerson(platform.system, { email: EMAIL, name: 'Ada Byron', userType: 'standard', password: PASSWORD, ...tenant })
    await createPerson(platform.system, { email: SYSTEM_EMAIL, name: 'Rosa Root', userType: 'system', password: PASSWORD, ...tenant })
    const form = new FormData()
    form.set('organisation_id', tenant.organisationId)
    form.set('name', HOSTILE)
    form.set('file', new Blob([new Uint8Array(await readFile(join(folder, 'small.mp4')))]), 'small.mp4')
    const { body } = await api.send<UploadResponse>('POST', '/video/upload', { body: form })
    videoId = body.id
    await waitUntilSettled(api, videoId)
    browser = await chromium.launch({ executablePath: browserFile ?? '', args: [...browserArguments] })
    page = await openConsolePage(browser, (problem) => problems.push(problem))
    page.on('dialog', (dialog) => {
      if (dialog.type() !== 'beforeunload') problems.push(`dialog: ${dialog.message()}`)
      void dialog.accept()
    })
    problems = []
    await page.goto(`${platform.url}/console/videos`)
    await signIn(page, EMAIL, PASSWORD)
    await page.getByRole('heading', { name: 'Videos' }).waitFor()
  }, 240_000)
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

  test('adds a comment at the time of the player, exact to a millisecond', async () => {
    await openTab('review')
    await page.getByText('There are no comments yet').waitFor()
    await seekPlayer(2.48)
    await field('Comment').fill(HOSTILE)
    await page.getByRole('button', { name: 'Take from player: From' }).click()
    await waitFor(async () => (await field('From').inputValue()) === '00:00:02.480')
    await field('To (optional)').fill('0:03.5')
    await page.getByRole('button', { name: 'Add the comment' }).click()
    await clipRow(HOSTILE).waitFor()
    expect(await listClips()).toMatchObject([
      { comments: HOSTILE, resolved: '0', time_start: 2, time_start_millis: 480, time_finish: 3, time_finish_millis: 500 },
    ])
    expect(await page.locator('img[src="x"]').count()).toBe(0)
    // The form is empty and has the focus, for the next comment.
    await page.keyboard.type('Logo too small')
    await field('From').fill('1')
    await page.getByRole('button', { name: 'Add the comment' }).click()
    await clipRow('Logo too small').waitFor()
  }, 90_000)

  test('lists comments of all reviewers by time, and jumps to them', async () => {
    const entry = await api.post<{ id: string }>(`/collaborate/${videoId}`, { user_id: tenant.userId })
    await api.post(`/collaborate/clip/${entry.body.id}/post`, { comments: 'Music too loud', time_start: 2, time_finish: 2 })
    await openTab('review')
    await page.getByText('3 open comments').waitFor()
    const texts = await page.locator('.clip-text').allInnerTexts()
    expect(texts).toEqual(['Logo too small', 'Music too loud', HOSTILE])
    await clipRow('Logo too small').getByText('You (ada@example.org)').waitFor()
    await page.getByRole('button', { name: 'Jump to 00:00:02.480 – 00:00:03.500' }).click()
    await waitFor(async () => (await readPlayerTime()) === 2.48, { describe: 'the player to jump' })
    await waitFor(async () => (await clipRow(HOSTILE).getAttribute('aria-current')) === 'true', { describe: 'the comment to be current' })
  }, 90_000)

  test('edits and resolves comments, and rejects a time after the end', async () => {
    await clipRow('Logo too small').getByRole('button', { name: 'Edit' }).click()
    const row = page
      .getByRole('list', { name: 'Comments' })
      .locator('li')
      .filter({ has: page.getByRole('textbox') })
    await row.getByRole('textbox', { name: 'Comment' }).fill('Logo far too small')
    await row.getByRole('textbox', { name: 'To (optional)' }).fill('00:59:00.000')
    await row.getByRole('button', { name: 'Save' }).click()
    await row.getByText('The video ends at').waitFor()
    await row.getByRole('textbox', { name: 'To (optional)' }).fill('')
    await row.getByRole('button', { name: 'Save' }).click()
    await clipRow('Logo far too small').getByRole('button', { name: 'Resolve' }).click()
    await clipRow('Logo far too small').getByText('Resolved', { exact: true }).waitFor()
    await page.getByText('2 open comments').waitFor()
    expect((await listClips()).find(({ comments }) => comments === 'Logo far too small')).toMatchObject({ resolved: '1', time_finish: 1 })
    await page.getByRole('switch', { name: 'Hide resolved' }).check({ force: true })
    await clipRow('Logo far too small').waitFor({ state: 'detached' })
    await page.getByRole('switch', { name: 'Hide resolved' }).uncheck({ force: true })
    await clipRow('Logo far too small').getByRole('button', { name: 'Reopen' }).click()
    await page.getByText('3 open comments').waitFor()
  }, 90_000)

  test('orders the comments of a reviewer, links to a time and deletes', async () => {
    await page.getByText('By reviewer').click()
    await page.getByRole('button', { name: 'Move the comment at 00:00:01.000 up' }).click()
    await waitFor(async () => (await listClips())[0]?.comments === 'Logo far too small', { describe: 'the new order' })
    await checkPage('console-review')
    await openTab('review')
    await clipRow(HOSTILE).getByRole('button', { name: 'Link', exact: true }).click()
    const link = await field('Link to 00:00:02.480').inputValue()
    await clipRow('Logo far too small').getByRole('button', { name: 'Delete' }).click()
    await confirmDelete(page)
    await clipRow('Logo far too small').waitFor({ state: 'detached' })
    expect((await listClips()).map(({ comments }) => comments).toSorted()).toEqual([HOSTILE, 'Music too loud'])
    await page.goto(link)
    await waitFor(async () => Math.abs(Number(await readPlayerTime()) - 2.48) < 0.05, { describe: 'the player to start at the time' })
    await checkPage('console-review-link')
  }, 120_000)

  test('invites a guest, who comments on a private video by a link until the link ends', async () => {
    expect((await api.patch(`/video/${videoId}`, { visibility: 'private' })).status).toBe(200)
    await openTab('review')
    await page.getByRole('button', { name: 'Invite a guest' }).click()
    await field('Email address of the guest').fill('guest@example.net')
    await page.getByRole('button', { name: 'Create the link' }).click()
    const link = await field('Link for the guest').inputValue()
    expect(link).toMatch(new RegExp(`^${platform.url}/console/review#[\\w-]{43}$`))
    await checkPage('console-guest-link')
    const comment = `${HOSTILE} by a guest`
    await reviewAsGuest(browser, link, comment)

    await openTab('review')
    await clipRow(comment).getByText('guest@example.net (guest)').waitFor()
    const guest = page.getByRole('region', { name: 'Guests' }).getByRole('listitem')
    await guest.getByText(/The link is valid until/).waitFor()
    await guest.getByRole('button', { name: 'End the link' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'End the link' }).click()
    await guest.getByText('There is no valid link').waitFor()
    await checkPage('console-guests')
    await expectEndedLink(browser, link)

    await openTab('review')
    await guest.getByRole('button', { name: 'New link' }).click()
    expect(await field('Link for the guest').inputValue()).not.toBe(link)
    await page.getByRole('button', { name: 'Close', exact: true }).click()
    await guest.getByRole('button', { name: 'Delete' }).click()
    await confirmDelete(page)
    await guest.waitFor({ state: 'detached' })
    expect((await listClips()).map(({ comments }) => comments)).not.toContain(comment)
    expect((await api.patch(`/video/${videoId}`, { visibility: 'public' })).status).toBe(200)
  }, 180_000)

  test('creates a theme with a preview of the player, and edits it', async () => {
    await page.getByRole('link', { name: 'Player' }).click()
    await page.getByRole('tab', { name: 'Themes' }).click()
    await page.getByText('There are no themes yet').waitFor()
    await checkPage('console-themes-empty')
    await page.getByRole('button', { name: 'Create a theme' }).click()
    await field('Name').fill(HOSTILE)
    await field('Control bar').fill('#123456')
    await page.getByLabel('Select a colour: Texts', { exact: true }).fill('#ffee00')
    await page.getByRole('combobox', { name: 'Design of the controls' }).click()
    await page.getByRole('option', { name: 'pug' }).click()
    const frame = page.frameLocator('iframe').locator('.frame')
    const readLook = () =>
      frame.evaluate(({ style, dataset }: Frame) => [style.getPropertyValue('--bar'), style.getPropertyValue('--ink'), dataset.skin].join())
    await waitFor(async () => (await readLook()) === '#123456,#ffee00,pug', { describe: 'the preview of the theme' })
    await checkPage('console-theme-form')
    await page.getByRole('button', { name: 'Create a theme' }).click()
    await page.getByRole('row').filter({ hasText: HOSTILE }).waitFor()
    await checkPage('console-themes')
    const [theme] = (await api.get<Record<string, string>[]>('/theme')).body
    expect(theme).toMatchObject({ title: HOSTILE, skin: 'pug', control_bar_colour: '#123456', text_colour: '#ffee00' })

    await page.getByRole('button', { name: `Edit: ${HOSTILE}` }).click()
    await field('Background').fill('#000011')
    await api.put(`/theme/${theme?.['id']}`, { icon_colour: '#00ff00' })
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('alert').filter({ hasText: 'Another person has changed this' }).waitFor()
    await page.getByRole('button', { name: 'Save my version' }).click()
    await page.getByRole('row').filter({ hasText: HOSTILE }).waitFor()
    expect((await api.get(`/theme/${theme?.['id']}`)).body).toMatchObject({ background_colour: '#000011', icon_colour: '#00ff00' })
  }, 120_000)

  test('creates, edits and deletes a profile', async () => {
    await page.getByRole('tab', { name: 'Profiles' }).click()
    await page.getByText('There are no profiles yet').waitFor()
    await page.getByRole('button', { name: 'Create a profile' }).click()
    await field('Name').fill('Newsroom')
    await page.getByRole('switch', { name: 'Sharing' }).check({ force: true })
    await page.getByRole('switch', { name: 'Viewers need a password' }).check({ force: true })
    await page.getByLabel(/^Password/).fill('open sesame')
    await page.getByLabel('Lowest quality in kbit/s').fill('900')
    await page.getByLabel('Highest quality in kbit/s').fill('500')
    const frame = page.frameLocator('iframe')
    await frame.locator('.share').waitFor({ state: 'attached' })
    await page.getByRole('button', { name: 'Create a profile' }).click()
    await page.getByRole('alert').filter({ hasText: 'lowest_quality_version' }).waitFor()
    await page.getByLabel('Highest quality in kbit/s').fill('2500')
    await checkPage('console-profile-form')
    await page.getByRole('button', { name: 'Create a profile' }).click()
    await page.getByRole('row').filter({ hasText: 'Newsroom' }).filter({ hasText: 'Password' }).waitFor()
    const readProfiles = async () =>
      Object.values((await api.get<Record<string, Record<string, string>>>(`/setting/organisation/${tenant.organisationId}`)).body)
    const expected = { title: 'Newsroom', allow_sharing: '1', password_protected: '1', highest_quality_version: '2500' }
    expect(await readProfiles()).toMatchObject([expected])
    await checkPage('console-profiles')

    await page.getByRole('button', { name: 'Edit: Newsroom' }).click()
    await page.getByRole('switch', { name: 'Viewers need a password' }).uncheck({ force: true })
    await page.getByLabel('Maximum number of devices').fill('3')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('row').filter({ hasText: 'at most 3 devices' }).waitFor()
    expect(await readProfiles()).toMatchObject([{ ...expected, password_protected: '0', max_sessions: '3' }])
  }, 120_000)

  test('selects the profile and the theme of a video', async () => {
    const [profileId = ''] = Object.keys((await api.get(`/setting/organisation/${tenant.organisationId}`)).body)
    const password = createHash('sha1').update('open sesame').digest('hex')
    await api.put(`/setting/${profileId}`, { password_protected: 1, password })
    await openTab('sharing')
    for (const [name, option] of [
      ['Profile', 'Newsroom'],
      ['Theme', HOSTILE],
    ] as const) {
      await page.getByRole('combobox', { name, exact: true }).click()
      await page.getByRole('option', { name: option }).click()
    }
    await page.getByRole('button', { name: 'Save', exact: true }).last().click()
    await waitFor(async () => (await readVideo())['theme_id'] !== '', { describe: 'the theme of the video' })
    const [theme] = (await api.get<{ id: string }[]>('/theme')).body
    expect(await readVideo()).toMatchObject({ setting_id: profileId, theme_id: theme?.id })
    await page.frameLocator('iframe').locator('.frame[data-skin="pug"]').waitFor()
    // The editor needs no password.
    await waitFor(() => playerVideo().evaluate((video: Picture) => video.readyState > 0), { describe: 'the player of the protected video' })
    await checkPage('console-video-player')
    await api.put(`/setting/${profileId}`, { password_protected: 0 })

    await page.getByRole('link', { name: 'Player' }).click()
    await page.getByRole('row').filter({ hasText: 'Newsroom' }).getByRole('button', { name: 'Delete' }).click()
    await confirmDelete(page)
    await page.getByText('There are no profiles yet').waitFor()
    await page.getByRole('tab', { name: 'Themes' }).click()
    await page.getByRole('row').filter({ hasText: HOSTILE }).getByRole('button', { name: 'Delete' }).click()
    await confirmDelete(page)
    await page.getByText('There are no themes yet').waitFor()
    expect(await readVideo()).toMatchObject({ setting_id: '', theme_id: '' })
  }, 120_000)

  test('shows who can add slides', async () => {
    await openTab('presentation')
    await page.getByText('System users can add and change slides.').waitFor()
    expect(await page.getByRole('button', { name: 'Add the slides' }).count()).toBe(0)
    await checkPage('console-presentation-none')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await signIn(page, SYSTEM_EMAIL, PASSWORD)
    await settle(page)
  }, 60_000)

  test('converts a file to slides, and stores the times of the player', async () => {
    await openTab('presentation')
    await page.getByLabel('Title').last().fill('Launch')
    await page.locator('input[type=file][accept*=pdf]').setInputFiles(join(folder, 'talk.pdf'))
    await checkPage('console-presentation-new')
    await page.getByRole('button', { name: 'Add the slides' }).click()
    const slides = page.getByRole('list', { name: 'Slides' }).locator('li')
    await waitFor(async () => (await slides.count()) === 3, { timeout: 90_000, describe: 'the slides' })
    const isLoaded = (pictures: { naturalWidth: number }[]) => pictures.every(({ naturalWidth }) => naturalWidth > 0)
    await waitFor(() => slides.locator('img').evaluateAll(isLoaded), { describe: 'the pictures of the slides' })
    await openTab('presentation')
    await page.getByRole('button', { name: 'Slide 1 starts now' }).click()
    await field('Time of slide 2').fill('0:02')
    await seekPlayer(4.2)
    await page.getByRole('button', { name: 'Take from player: Time of slide 3' }).click()
    await waitFor(async () => (await field('Time of slide 3').inputValue()) === '00:00:04')
    await page.getByRole('button', { name: 'Save', exact: true }).last().click()
    await page.getByText('Complete', { exact: true }).waitFor()
    const id = String((await readVideo())['presentation_id'])
    expect((await api.get(`/presentation/${id}`)).body).toMatchObject({
      title: 'Launch',
      video_id: videoId,
      slides: { 1: { seconds: 0 }, 2: { seconds: 2 }, 3: { seconds: 4 } },
    })
    await page.getByRole('button', { name: 'Show in the video: Slide 2' }).click()
    await waitFor(async () => (await readPlayerTime()) === 2, { describe: 'the player to jump' })
    await waitFor(async () => (await slides.nth(1).getAttribute('aria-current')) === 'true', { describe: 'the slide to be current' })
    await checkPage('console-presentation')
  }, 180_000)

  test('adds slides, reports a file without slides, and deletes', async () => {
    await openTab('presentation')
    await page.locator('input[type=file][accept*=pdf]').setInputFiles(join(folder, 'more.pdf'))
    const slides = page.getByRole('list', { name: 'Slides' }).locator('li')
    await waitFor(async () => (await slides.count()) === 4, { timeout: 90_000, describe: 'the added slide' })
    await field('Time of slide 4').fill('0:01.5')
    expect(await page.getByRole('button', { name: 'Save', exact: true }).last().isDisabled()).toBe(true)
    await page.locator('input[type=file][accept*=pdf]').setInputFiles(join(folder, 'broken.pdf'))
    await page.locator('[role=alert]', { hasText: 'The last file could not be converted' }).waitFor({ timeout: extendTimeout(90_000) })
    await checkPage('console-presentation-failed')
    await openTab('presentation')
    await page.getByRole('button', { name: 'Delete' }).last().click()
    await confirmDelete(page)
    await page.getByRole('button', { name: 'Add the slides' }).waitFor()
    expect(await readVideo()).toMatchObject({ presentation_id: null })
  }, 180_000)

  test('has these pages in German', async () => {
    await page.goto(`${platform.url}/console/account`)
    await page.getByRole('combobox', { name: 'Language of the console' }).click()
    await page.getByRole('option', { name: 'Deutsch' }).click()
    await openTab('review')
    await page.getByText('2 offene Kommentare').waitFor()
    await page.getByRole('button', { name: 'Vom Player übernehmen: Von' }).waitFor()
    await page.getByRole('link', { name: 'Player', exact: true }).click()
    await page.getByRole('tab', { name: 'Farbschemata' }).waitFor()
  }, 60_000)
})
