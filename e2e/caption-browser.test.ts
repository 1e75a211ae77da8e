import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { browserArguments, browserPath, chooseInMenu, listChoices, waitFor } from '@vitascope/testing'
import { type Browser, chromium, type Locator, type Page } from 'playwright-core'
import type { Api } from './support/api.ts'
import { type SourceServer, startSourceServer } from './support/source-server.ts'
import { ffprobe, makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, upload, type VideoRecord, waitUntilSettled } from './support/video-steps.ts'

const browserFile = browserPath()
const SCREENSHOTS = process.env['VITASCOPE_SCREENSHOTS']
const describeInBrowser = browserFile === undefined ? describe.skip : describe

/** The properties of a `<video>` that the tests use. */
interface Picture {
  currentTime: number
  volume: number
  textTracks: Iterable<{ mode: string; activeCues: Iterable<{ text: string }> | null }>
  pause(): void
  play(): Promise<void>
}

let folder: string
let platform: TestPlatform
let sources: SourceServer
let api: Api
let video: VideoRecord

/** Returns captions with one cue per second. `toText` returns the text of a cue. */
const vtt = (toText: (second: number) => string) =>
  `WEBVTT\n\n${Array.from({ length: 12 }, (_, n) => `00:${String(n).padStart(2, '0')}.100 --> 00:${String(n).padStart(2, '0')}.900\n${toText(n)}\n`).join('\n')}`
const english = vtt((n) => `Good evening, this is <i>second ${n}</i>\nof a test card &amp; of its sound`)
const german = vtt((n) => `Guten Abend, dies ist Sekunde ${n}`)

const create = async (title: string, language: string, content: string, mediaId = video.media_id) => {
  const { status, body } = await api.post<{ caption_id: string }[]>('/caption', {
    title,
    language,
    media_id: mediaId,
    content,
    format: 'vtt',
  })
  if (status !== 200) throw new Error(`the captions returned ${status}: ${JSON.stringify(body)}`)
  return body[0]?.caption_id ?? ''
}
const master = async (uri = video.uri.hls) => (await fetch(uri)).text()
const waitForCaption = (title: string, isListed = true) =>
  waitFor(async () => (await master()).includes(`NAME="${title}"`) === isListed, {
    timeout: 5_000,
    describe: `${title} in the master: ${isListed}`,
  })

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sources-'))
  sources = await startSourceServer(folder)
  await makeSource(folder, 'medium.mp4')
  platform = await startTestPlatform()
  const tenant = await createTenant(platform.system)
  api = platform.withKey(tenant.key)
  const { id } = await upload(api, tenant.organisationId, `${sources.url}/medium.mp4`, { name: 'Launch of the test card' })
  video = await waitUntilSettled(api, id)
  await api.patch(`/video/${id}`, { captions: { show_on_load: 'en' } })
  await create('Deutsch', 'de', german)
  await create('English', 'en', english)
  await waitForCaption('English')
}, 180_000)
afterAll(async () => {
  await platform?.remove()
  await sources?.close()
  await rm(folder, { recursive: true, force: true })
})

describe('the HLS of a video', () => {
  const tracks = async () => [...(await master()).matchAll(/TYPE=SUBTITLES.*/g)].map(([tag]) => tag)
  const resolveAddress = (tag: string) => new URL(/URI="([^"]+)"/.exec(tag)?.[1] ?? '', video.uri.hls).href

  test('lists captions with languages, and the default ones', async () => {
    expect((await tracks()).map((tag) => tag.replace(/.*NAME="([^"]*)",LANGUAGE="([^"]*)",DEFAULT=(\w+),.*/, '$1 $2 $3'))).toEqual([
      'Deutsch de NO',
      'English en YES',
    ])
    const variants = (await master()).split('\n').filter((line) => line.startsWith('#EXT-X-STREAM-INF'))
    expect(variants.length).toBeGreaterThanOrEqual(6)
    for (const variant of variants) expect(variant).toMatch(/,SUBTITLES="captions"$/)
  })
  test('has subtitles that ffprobe reads, with unchanged video and audio', async () => {
    for (const tag of await tracks()) {
      const { streams, packets } = await ffprobe(['-show_streams', '-show_packets', resolveAddress(tag)])
      expect(streams.map(({ codec_name }) => codec_name)).toEqual(['webvtt'])
      expect((packets ?? []).map(({ pts_time }) => Number(pts_time))).toEqual(Array.from({ length: 12 }, (_, n) => n + 0.1))
    }
    const { streams } = await ffprobe(['-show_streams', video.uri.hls])
    expect(streams.filter(({ codec_name }) => codec_name === 'h264').length).toBeGreaterThanOrEqual(6)
  }, 60_000)
  test('has added and removed captions within 5 s under the same URL', async () => {
    const id = await create('Brief', 'fr', english)
    await waitForCaption('Brief')
    const tag = (await tracks()).find((one) => one.includes('Brief')) ?? ''
    const file = resolveAddress(tag).replace('.m3u8', '.vtt')
    expect((await fetch(file)).status).toBe(200)
    await api.put(`/caption/${id}`, { content: german, format: 'vtt' })
    await waitFor(async () => (await (await fetch(file)).text()).includes('Guten Abend'), { timeout: 5_000, describe: 'the other lines' })
    expect((await api.delete(`/caption/${id}`)).status).toBe(202)
    await waitForCaption('Brief', false)
    expect(await (await fetch(file)).text()).not.toContain('Guten')
    const after = (await api.get<VideoRecord>(`/video/${video.video_id}`)).body
    expect(after.uri.hls).toBe(video.uri.hls)
  }, 30_000)
  test('requires the token of the video for captions', async () => {
    const { body: second } = await api.post<{ video_id: string; media_id: string }>(`/media/${video.media_id}/publish`)
    const publish = (await api.get<VideoRecord>(`/video/${second.video_id}`)).body
    const files = async (uri: string) => {
      const tags = [...(await master(uri)).matchAll(/TYPE=SUBTITLES.*URI="([^"]+)"/g)].map(([, name]) => new URL(name ?? '', uri).href)
      return [uri, ...tags, ...tags.map((name) => name.replace('.m3u8', '.vtt'))]
    }
    const statuses = (urls: readonly string[]) => Promise.all(urls.map(async (url) => (await fetch(url)).status))
    const open = await files(publish.uri.hls)
    expect(await statuses(open)).toEqual([200, 200, 200, 200, 200])
    await api.patch(`/video/${second.video_id}`, { security: { allowed_ips: ['203.0.113.0/24'] } })
    await waitFor(async () => (await statuses(open)).every((status) => status === 404), {
      timeout: 5_000,
      describe: 'the old URLs to return an error',
    })
    const bound = (await api.get<VideoRecord>(`/video/${second.video_id}`)).body.uri.hls
    const moved = open.map((url) => url.replace(/\/delivery\/\d+\/[^/]+\//, bound.match(/\/delivery\/\d+\/[^/]+\//)?.[0] ?? ''))
    expect(await statuses(moved)).toEqual([403, 403, 403, 403, 403])
    await api.patch(`/video/${second.video_id}`, { security: { allowed_ips: [] }, enabled: '0' })
    await waitFor(async () => (await statuses(moved)).every((status) => status === 404), {
      timeout: 5_000,
      describe: 'the files to be hidden',
    })
  }, 30_000)
})

describeInBrowser('captions in a browser', () => {
  let browser: Browser
  let page: Page
  const pageErrors: string[] = []
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: browserFile ?? '', args: [...browserArguments] })
  }, 60_000)
  afterAll(() => browser?.close())
  beforeEach(async () => {
    for (const context of browser.contexts()) await context.close()
    page = await browser.newPage({ viewport: { width: 1280, height: 720 } })
    pageErrors.length = 0
    page.on('console', (message) => message.type() === 'error' && pageErrors.push(message.text()))
    page.on('pageerror', (error) => pageErrors.push(error.message))
  })

  const screenshot = async (name: string) => {
    if (SCREENSHOTS === undefined) return
    await mkdir(SCREENSHOTS, { recursive: true })
    await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) })
  }
  const picture = () => page.locator('video')
  const position = () => picture().evaluate((element: Picture) => element.currentTime)
  const readShownCaptions = () =>
    picture().evaluate((element: Picture) =>
      [...element.textTracks]
        .filter(({ mode }) => mode === 'showing')
        .flatMap((track) => [...(track.activeCues ?? [])].map((cue) => cue.text)),
    )
  const waitForText = (text: string) =>
    waitFor(async () => (await readShownCaptions()).join('|') === text, { timeout: 20_000, describe: `the captions to be "${text}"` })
  const pauseAt = async (seconds: number) => {
    await picture().evaluate((element: Picture, at) => {
      element.pause()
      element.currentTime = at
    }, seconds)
  }
  const open = async (query = '') => {
    await page.goto(`${platform.url}/player/${video.video_id}?autoplay=1&muted=1${query}`)
    await waitFor(async () => (await position()) > 0.5, { timeout: 30_000, describe: 'the picture to move' })
  }
  const waitForFocus = (element: Locator) =>
    waitFor(() => element.evaluate((node) => node.matches(':focus')), { describe: `the focus on ${element}` })
  const item = (name: string) => page.getByRole('menuitemradio', { name })
  const inEnglish = (n: number) => `Good evening, this is <i>second ${n}</i>\nof a test card & of its sound`

  test('default captions are shown on time, and the viewer can choose another language or none', async () => {
    await open()
    for (const second of [3, 8]) {
      await pauseAt(second + 0.5)
      await waitFor(async () => (await readShownCaptions()).join().includes(`second ${second}`), {
        timeout: 20_000,
        describe: `the line of ${second} s`,
      })
    }
    expect((await readShownCaptions())[0]?.replace('&amp;', '&')).toBe(inEnglish(8))
    await screenshot('captions')
    expect(await listChoices(page, 'captions')).toEqual(['Off', 'Deutsch', '✓ English'])
    await chooseInMenu(page, 'captions', 'Deutsch')
    await waitForText('Guten Abend, dies ist Sekunde 8')
    await chooseInMenu(page, 'captions', 'Off')
    await waitForText('')
    expect(pageErrors).toEqual([])
  }, 90_000)

  test('captions can be chosen by keyboard', async () => {
    await open()
    await pauseAt(5.5)
    await page.locator('.settings-button').focus()
    await page.keyboard.press('Enter')
    await waitForFocus(page.locator('[data-menu=quality]'))
    for (const key of ['ArrowDown', 'ArrowDown', 'Enter']) await page.keyboard.press(key)
    await waitForFocus(item('Off'))
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await waitForText('Guten Abend, dies ist Sekunde 5')
    await waitForFocus(page.locator('[data-menu=captions]'))
    await page.keyboard.press('Escape')
    await waitForFocus(page.locator('.settings-button'))
    await page.keyboard.press('c')
    await waitForText('')
    await page.keyboard.press('c')
    await waitForText('Guten Abend, dies ist Sekunde 5')
    await waitFor(async () => !(await item('English').isVisible()), { describe: 'the menu to disappear' })
    expect(await position()).toBe(5.5)
    expect(await picture().evaluate((element: Picture) => element.volume)).toBe(1)
  }, 60_000)

  test('deleting or replacing captions does not interrupt playback', async () => {
    const deletedId = await create('Gone', 'fr', english)
    const other = await create('Other', 'nl', english)
    await waitForCaption('Other')
    await open()
    await pauseAt(2.5)
    await chooseInMenu(page, 'captions', 'Other')
    await waitFor(async () => (await readShownCaptions()).join().includes('second 2'), { timeout: 20_000, describe: 'the captions' })
    await api.put(`/caption/${other}`, { content: german, format: 'vtt' })
    await api.delete(`/caption/${deletedId}`)
    await waitForCaption('Gone', false)
    await chooseInMenu(page, 'captions', 'Gone')
    const before = await position()
    await picture().evaluate((element: Picture) => element.play())
    await waitFor(async () => (await position()) > before + 3, { timeout: 20_000, describe: 'playback to continue' })
    expect(await page.locator('.notice').isVisible()).toBe(false)
    await chooseInMenu(page, 'captions', 'English')
    await pauseAt(9.5)
    await waitFor(async () => (await readShownCaptions()).join().includes('second 9'), {
      timeout: 20_000,
      describe: 'the English captions',
    })
    await api.delete(`/caption/${other}`)
  }, 90_000)
})
