import { appendFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { browserPath, extendTimeout, waitFor } from '@vitascope/testing'
import type { Page, Request } from 'playwright-core'
import type { Api } from './support/api.ts'
import { listAllVideos, readFirstVideo, save, settle } from './support/console-page.ts'
import { kill } from './support/nemesis.ts'
import { type OpenConsole, openConsole } from './support/open-console.ts'
import { checkState } from './support/page-state.ts'
import type { SourceServer } from './support/source-server.ts'
import type { TestPlatform } from './support/test-platform.ts'

const browserFile = browserPath()
const describeInBrowser = browserFile === undefined ? describe.skip : describe
const EMAIL = 'ada@example.org'
const PASSWORD = 'correct horse battery'
const PADDING_BYTES = 24 * 2 ** 20

let folder: string
let platform: TestPlatform
let sources: SourceServer
let api: Api
let opened: OpenConsole | undefined
let page: Page
let problems: string[]

/** Uploads, lists and interruptions of the console. Each test continues in the state in which the previous one ended. */
describeInBrowser('the console', () => {
  beforeAll(async () => {
    opened = await openConsole(browserFile, { email: EMAIL, password: PASSWORD, name: 'Ada Byron', userType: 'standard' }, [
      'small.mp4',
      'other.mp4',
    ])
    ;({ folder, sources, platform, api, page, problems } = opened)
    page.on('dialog', (dialog) => void dialog.accept())
    // Adds an MP4 box that players skip, so that the upload has many parts.
    const header = Buffer.from('00000000free', 'latin1')
    header.writeUInt32BE(PADDING_BYTES + 8)
    await appendFile(join(folder, 'small.mp4'), Buffer.concat([header.subarray(0, 4), Buffer.from('free'), Buffer.alloc(PADDING_BYTES, 7)]))
  }, 120_000)
  afterAll(() => opened?.close())
  beforeEach(() => {
    problems.length = 0
  })
  afterEach(() => {
    expect(problems).toEqual([])
  })

  test('continues an upload after the page was closed in the middle of it', async () => {
    const offsets: number[] = []
    const isPart = (request: Request) => request.method() === 'PATCH' && request.url().includes('/upload')
    page.on('request', (request) => isPart(request) && offsets.push(Number(request.headers()['upload-offset'])))
    // Parts after the first eighth of the file do not arrive before the page is closed.
    await page.route('**/upload/**', (route) =>
      isPart(route.request()) && Number(route.request().headers()['upload-offset']) > PADDING_BYTES / 8 ? undefined : route.continue(),
    )
    const addFile = async () => {
      await page.getByRole('button', { name: 'Upload videos' }).first().click()
      await page.locator('input[type=file]').first().setInputFiles(join(folder, 'small.mp4'))
    }
    await addFile()
    await waitFor(() => offsets.some((offset) => offset > PADDING_BYTES / 8), { timeout: 30_000, describe: 'the second eighth' })
    expect(await listAllVideos(api)).toEqual([])
    // Removing the route first would still send the held part. So the page is reloaded first.
    await page.reload()
    await page.unroute('**/upload/**')
    await settle(page)
    offsets.length = 0
    await addFile()
    await page
      .getByRole('region', { name: 'Uploads' })
      .getByText('Ready')
      .waitFor({ timeout: extendTimeout(90_000) })
    expect(Math.min(...offsets)).toBeGreaterThan(PADDING_BYTES / 8)
    expect(await listAllVideos(api)).toHaveLength(1)
  }, 150_000)

  test('checks a CSV list before it creates its videos, and keeps bad rows apart', async () => {
    const rows = [
      'url,title,tags,visibility',
      `${sources.url}/other.mp4,"Talk, first day",orbit;launch,private`,
      'nothing,Second,,',
      `${sources.url}/other.mp4,Third,,`,
      `${sources.url}/other.mp4?again,Fourth,,secret`,
      `${sources.url}/other.mp4?tag,Fünfter,first day,`,
    ]
    // Spreadsheet programs of Western Europe store this encoding.
    await writeFile(join(folder, 'list.csv'), rows.join('\n'), 'latin1')
    await page.getByRole('button', { name: 'Upload videos' }).first().click()
    await page.getByRole('button', { name: 'From a CSV list' }).click()
    await page.locator('input[type=file][accept*=csv]').setInputFiles(join(folder, 'list.csv'))
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Checked: 1 can be created, 4 have problems.').waitFor()
    await dialog.getByRole('row').filter({ hasText: 'Second' }).getByText('must start with http').waitFor()
    await dialog.getByRole('row').filter({ hasText: 'Third' }).getByText('An earlier line has the same address.').waitFor()
    await dialog.getByRole('row').filter({ hasText: 'Fünfter' }).getByText('The tag "first day" has a space.').waitFor()
    await dialog.getByRole('row').filter({ hasText: 'Fourth' }).getByText('The visibility "secret" is unknown').waitFor()
    expect(await listAllVideos(api)).toHaveLength(1)
    await checkState(page, 'console-csv-list')
    await dialog.getByRole('button', { name: 'Create 1 video' }).click()
    await dialog.getByRole('link', { name: 'Created' }).waitFor()
    const created = (await listAllVideos(api)).find(({ video_title }) => video_title === 'Talk, first day')
    expect(created).toMatchObject({ visibility: 'private', tags: ['orbit', 'launch'] })
    await dialog.getByRole('button', { name: 'Cancel' }).click()
  }, 60_000)

  test('saves the filters as a view, opens and deletes it', async () => {
    await page.goto(`${platform.url}/console/videos?layout=table&tag=orbit&order=nameDescending`)
    await page.getByText('1 video', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Saved views' }).click()
    await page.getByLabel('Name of this view').fill('Orbits')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await checkState(page, 'console-saved-views')
    await page.goto(`${platform.url}/console/videos`)
    await page.getByText('2 videos', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Saved views' }).click()
    await page.getByRole('button', { name: 'Orbits', exact: true }).click()
    await page.getByText('1 video', { exact: true }).waitFor()
    expect(new URL(page.url()).searchParams.get('order')).toBe('nameDescending')
    await page.getByRole('button', { name: 'Saved views' }).click()
    await page.getByRole('button', { name: 'Delete the view Orbits' }).click()
    await page.getByText('Save the present filters').waitFor()
    await page.keyboard.press('Escape')
  }, 60_000)

  test('adds, changes and deletes metadata', async () => {
    const { video_id } = await readFirstVideo(api)
    const stored = async () => (await readFirstVideo(api))['metadata']
    await page.goto(`${platform.url}/console/videos/${video_id}`)
    for (const [number, name, value] of [
      [1, 'genre', 'news'],
      [2, 'cost', '7'],
    ] as const) {
      await page.getByRole('button', { name: 'Add an entry' }).click()
      await page.getByLabel(`Name of entry ${number}`).fill(name)
      await page.getByLabel(`Value of entry ${number}`).fill(value)
    }
    await page.getByLabel('Private: cost').check({ force: true })
    await page.getByRole('button', { name: 'Save the metadata' }).click()
    await page.getByRole('button', { name: 'Save the metadata' }).waitFor({ state: 'detached' })
    const entry = (name: string, value: string, isPrivate: boolean) => ({ name, value, private: isPrivate, read_only: false })
    expect(await stored()).toEqual({ public: [entry('genre', 'news', false)], private: [entry('cost', '7', true)] })
    // Stored entries are sorted by their names.
    await page.getByLabel('Value of entry 2').fill('sport')
    await page.getByRole('button', { name: 'Remove entry 1' }).click()
    await page.getByRole('button', { name: 'Save the metadata' }).click()
    await waitFor(async () => JSON.stringify(await stored()).includes('sport'), { describe: 'the changed metadata' })
    expect(await stored()).toEqual({ public: [entry('genre', 'sport', false)], private: [] })

    // A program adds an entry while the page is open.
    await page.getByRole('button', { name: 'Save the metadata' }).waitFor({ state: 'detached' })
    expect((await api.post(`/metadata/${video_id}`, [{ name: 'mood', value: 'calm' }])).status).toBe(201)
    await page.getByLabel('Value of entry 1').fill('music')
    await page.getByRole('button', { name: 'Save the metadata' }).click()
    await page.getByLabel('Name of entry 2').waitFor()
    expect(await stored()).toEqual({ public: [entry('genre', 'music', false), entry('mood', 'calm', false)], private: [] })
  }, 60_000)

  test('shows an overlay in the player, and deletes it', async () => {
    const { video_id } = await readFirstVideo(api)
    await page.goto(`${platform.url}/console/videos/${video_id}?tab=overlays`)
    await page.getByRole('button', { name: 'Add an overlay' }).click()
    const form = page.locator('form').filter({ hasText: 'Address of the link' })
    await form.getByLabel('Title').fill('Tickets')
    await form.getByLabel('Address of the link').fill('https://tickets.example.org/')
    await form.getByRole('textbox', { name: 'From' }).fill('0:01')
    await form.getByText('Enter both times').waitFor()
    await form.getByRole('textbox', { name: 'To' }).fill('0:03')
    await checkState(page, 'console-overlay-form')
    await form.getByRole('button', { name: 'Save the overlay' }).click()
    await page.getByText('00:01 – 00:03').waitFor()
    const overlays = async () => (await readFirstVideo(api))['overlays'] as unknown[]
    expect(await overlays()).toMatchObject([{ title: 'Tickets', show: { at_end: '0', during: { start: '00:01', end: '00:03' } } }])
    await page.getByRole('tabpanel').getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Show when the video has ended').check()
    await page.getByRole('button', { name: 'Save the overlay' }).click()
    await page.getByText('00:01 – 00:03, at the end').waitFor()
    await page.getByRole('tabpanel').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('There are no overlays yet').waitFor()
    expect(await overlays()).toEqual([])
  }, 90_000)

  test('replaces the source by a file and by an address', async () => {
    const { video_id } = await readFirstVideo(api)
    const duration = async () => Math.round(Number((await readFirstVideo(api))['duration']))
    expect(await duration()).toBe(6)
    await page.goto(`${platform.url}/console/videos/${video_id}?tab=files`)
    const select = () => page.locator('input[type=file][accept*=mkv]').setInputFiles(join(folder, 'other.mp4'))
    const progress = page.getByRole('progressbar', { name: 'Progress of the upload' })
    const created: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/upload')) created.push(request.url())
    })
    // The bytes wait in the browser, so that the progress is shown until the upload is cancelled.
    let waiting = 0
    await page.route('**/v2/upload/tus/*', () => void waiting++)
    await select()
    await progress.waitFor({ state: 'attached' })
    await waitFor(() => waiting === 1, { describe: 'the first request with bytes' })
    await page.getByRole('tabpanel').getByRole('button', { name: 'Cancel' }).click()
    await progress.waitFor({ state: 'detached' })
    expect(await page.getByRole('tabpanel').getByRole('alert').count()).toBe(0)
    await select()
    await progress.waitFor({ state: 'attached' })
    await waitFor(() => waiting === 3, { describe: 'the deletion of the first upload, and bytes of the second' })
    // It continues on other tabs and pages, and a second file cannot be sent meanwhile.
    await page.getByRole('tab', { name: 'Captions' }).click()
    await page.getByRole('link', { name: 'Playlists' }).click()
    await page.getByRole('region', { name: 'Uploads' }).getByText('Uploading, 0 %').waitFor()
    await page.goBack()
    await page.getByRole('tab', { name: 'Files' }).click()
    await progress.waitFor({ state: 'attached' })
    expect(await page.getByRole('button', { name: 'Select a file' }).isDisabled()).toBe(true)
    // After the page was closed during an upload, the same file continues it.
    await page.reload()
    await page.getByRole('region', { name: 'Uploads' }).getByText('Interrupted. Select the file again on the page of its video').waitFor()
    // Before the reload, this would send the bytes that wait.
    await page.unroute('**/v2/upload/tus/*')
    await select()
    await page.getByRole('tabpanel').getByText('The new source is being encoded.').waitFor()
    expect(created).toHaveLength(2)
    page.removeAllListeners('request')
    await waitFor(async () => (await duration()) === 4, { timeout: 60_000, describe: 'the new source' })
    await page.getByRole('tabpanel').getByText('The new source plays.').waitFor()
    await page.getByLabel('Or an address').fill(`${sources.url}/none.mp4`)
    await page.getByRole('tabpanel').getByRole('button', { name: 'Fetch' }).click()
    await page.getByText('The last encoding job failed').waitFor({ timeout: extendTimeout(60_000) })
    expect(await duration()).toBe(4)
  }, 150_000)

  test('shows pictures and files of a private video, and sets its poster to the picture of a time', async () => {
    const readPrivate = async () => (await listAllVideos(api)).find(({ visibility }) => visibility === 'private')
    await waitFor(async () => (await readPrivate())?.status.status === 'ok', { timeout: 60_000, describe: 'the private video' })
    await page.goto(`${platform.url}/console/videos`)
    const thumbnail = page.locator('.video-card').filter({ hasText: 'Talk, first day' }).locator('.thumbnail img')
    await waitFor(() => thumbnail.evaluate((image: { naturalWidth: number }) => image.naturalWidth > 0), {
      describe: 'the thumbnail of the private video',
    })
    await page.getByRole('link', { name: 'Talk, first day' }).click()
    type Picture = { readyState: number }
    const playerVideo = page.frameLocator('.player-frame').locator('video')
    await waitFor(() => playerVideo.evaluate((video: Picture) => video.readyState > 0), { describe: 'the player of the private video' })
    await page.getByRole('tab', { name: 'Files' }).click()
    const files = page.getByRole('tabpanel').getByRole('row').filter({ hasText: 'kbit/s' })
    await files.first().waitFor()
    expect((await files.first().getByRole('cell').allTextContents()).join(' ')).toMatch(/^h264_\d+ \d+ × \d+ [\d,]+ kbit\/s [\d.]+ (kB|MB)/)
    await page.getByRole('row').filter({ hasText: 'Encoded with' }).getByText('FFmpeg').waitFor()
    const address = (await files.first().getByRole('link').getAttribute('href')) ?? ''
    expect((await fetch(address, { method: 'HEAD' })).status).toBe(200)
    expect((await fetch(address.replace(/\?.*/, ''), { method: 'HEAD' })).status).toBe(403)
    await checkState(page, 'console-files')
    await page.getByRole('button', { name: 'Poster: Use the picture shown now' }).click()
    await page.getByText('The poster is being created.').waitFor()
    const readPoster = async () => (await readPrivate())?.['poster'] as { status: string } | null
    await waitFor(async () => (await readPoster())?.status === 'ok', { timeout: 30_000, describe: 'the poster' })
  }, 150_000)

  test('shows the data again without a reload after the gateway was killed', async () => {
    await page.goto(`${platform.url}/console/videos`)
    await settle(page)
    const pid = platform.pid('gateway')
    expect(kill(platform, 'gateway')).toBe(true)
    await page.getByRole('link', { name: 'Playlists' }).click()
    await waitFor(() => platform.pid('gateway') !== pid && platform.pid('gateway') !== undefined, { describe: 'a new gateway' })
    await page.getByText('There are no playlists yet').waitFor({ timeout: extendTimeout(60_000) })
    await page.getByRole('link', { name: 'Videos', exact: true }).click()
    await page.getByText('2 videos', { exact: true }).waitFor()
  }, 90_000)

  test('keeps what was typed while the browser is offline', async () => {
    const { video_id } = await readFirstVideo(api)
    await page.goto(`${platform.url}/console/videos/${video_id}`)
    await page.getByLabel('Category').fill('Culture')
    await page.waitForLoadState('networkidle')
    await page.context().setOffline(true)
    await page.getByText('Vitascope does not answer').waitFor()
    await page.getByRole('button', { name: 'Save', exact: true }).first().click()
    await page
      .getByRole('alert')
      .getByText('The platform cannot be reached. Check your connection and try again.')
      .waitFor({ timeout: extendTimeout(60_000) })
    expect(await page.getByLabel('Category').inputValue()).toBe('Culture')
    await page.context().setOffline(false)
    await page.getByText('Vitascope does not answer').waitFor({ state: 'detached' })
    await save(page)
    expect(await readFirstVideo(api)).toMatchObject({ category: 'Culture' })
  }, 120_000)
})
