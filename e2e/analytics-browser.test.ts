import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { browserArguments, browserPath, chooseInMenu, listChoices, waitFor } from '@vitascope/testing'
import { type Browser, chromium, type Page } from 'playwright-core'
import { type SourceServer, startSourceServer } from './support/source-server.ts'
import { makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, type Tenant, upload, waitUntilSettled } from './support/video-steps.ts'

const browserFile = browserPath()
const describeInBrowser = browserFile === undefined ? describe.skip : describe
/** Headless browsers identify themselves and would be counted as bots. */
const userAgent = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36'

let folder: string
let platform: TestPlatform
let sources: SourceServer
let tenant: Tenant
let browser: Browser
let videoId: string

/** The properties of a `<video>` that the tests use. */
interface Picture {
  muted: boolean
  currentTime: number
  readyState: number
  play(): Promise<void>
  pause(): void
  addEventListener(name: string, act: () => void, options?: { once: true }): void
  removeEventListener(name: string, act: () => void): void
}

interface SessionEvent {
  type: string
  at: number
  state?: string
  from_height?: number
  to_height?: number
}

interface Session {
  startup_ms: number
  stalls: number
  stalled_ms: number
  switches: number
  has_error: boolean
  events: SessionEvent[]
}

interface Heatmap {
  watched: number[]
  rewatched: number[]
}

describeInBrowser('what a browser plays', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sources-'))
    sources = await startSourceServer(folder)
    await makeSource(folder, 'medium.mp4')
    platform = await startTestPlatform()
    tenant = await createTenant(platform.system)
    // One browser for the whole file: a page that closes still sends events.
    browser = await chromium.launch({ executablePath: browserFile ?? '', args: [...browserArguments, `--user-agent=${userAgent}`] })
    const api = platform.withKey(tenant.key)
    videoId = (await upload(api, tenant.organisationId, `${sources.url}/medium.mp4`, { name: 'Launch' })).id
    await waitUntilSettled(api, videoId)
  }, 240_000)
  afterAll(async () => {
    await browser?.close()
    await platform?.remove()
    await sources?.close()
    await rm(folder, { recursive: true, force: true })
  })

  /** Plays from one second to about another. Returns the current time of the video. */
  const play = (page: Page, from: number, to: number): Promise<number> =>
    page.locator('video').evaluate(
      async (video: Picture, [from = 0, to = 0]) => {
        video.muted = true
        if (video.currentTime !== from) {
          const there = new Promise<void>((done) => video.addEventListener('seeked', done, { once: true }))
          video.currentTime = from
          await there
        }
        const stopped = new Promise<void>((done) => video.addEventListener('pause', done, { once: true }))
        const pauseAtEnd = () => void (video.currentTime >= to && video.pause())
        video.addEventListener('timeupdate', pauseAtEnd)
        await video.play()
        await stopped
        video.removeEventListener('timeupdate', pauseAtEnd)
        return video.currentTime
      },
      [from, to],
    )
  const cells = (length: number, parts: readonly (readonly [number, number])[]) =>
    Array.from({ length }, (_, cell) => (parts.some(([from, to]) => from < cell + 1 && to > cell) ? 1 : 0))

  test('report and heatmap show the watched and rewatched parts', async () => {
    const api = platform.withKey(tenant.key)
    const page = await browser.newPage()
    const pageErrors: string[] = []
    page.on('pageerror', (error) => pageErrors.push(error.message))
    await page.goto(`${platform.url}/player/${videoId}`)
    await waitFor(() => page.locator('video').evaluate((video: Picture) => video.readyState > 0), {
      timeout: 60_000,
      describe: 'the video to load',
    })
    const first = await play(page, 0, 3.2)
    const second = await play(page, 8, 9.2)
    const repeated = await play(page, 1, 2.2)
    await page.goto('about:blank')
    expect([pageErrors, first < 7, second < 11.5, repeated < first]).toEqual([[], true, true, true])

    const path = `${tenant.organisationId}/video/${videoId}`
    let heatmap: Heatmap | undefined
    const watched = cells(12, [
      [0, first],
      [8, second],
    ])
    const rewatched = cells(12, [[1, repeated]])
    await waitFor(
      async () => {
        heatmap = (await api.get<Heatmap>(`/analytics/heatmap/${path}`)).body as unknown as Heatmap
        return JSON.stringify([heatmap.watched, heatmap.rewatched]) === JSON.stringify([watched, rewatched])
      },
      { timeout: 60_000, describe: () => `${JSON.stringify([watched, rewatched])} in ${JSON.stringify(heatmap)}` },
    )

    const { body } = await api.get<Record<string, Record<string, number>>>(`/analytics/duration-viewed/${path}`)
    expect(body).toMatchObject({ player_loads: 1, video_plays: 1, complete_views: 0, bounced_views: 0, video_duration: 12 })
    // A bucket is 0.6 s: those of 1.2 s and 8.4 s were watched, that of 7.2 s and the end were not.
    expect(body['views_per_duration']).toMatchObject({ 0: 1, 10: 1, 60: 0, 70: 1, 95: 0, 100: 0 })
    expect(Object.values(body['max_percentage_viewed'] ?? {}).reduce((sum, views) => sum + views, 0)).toBe(1)
    expect(body['max_percentage_viewed']?.[String(Math.floor((second / 12) * 20) * 5)]).toBe(1)
    const share = ((first + second - 8) / 12) * 100
    expect(Math.abs(Number(body['average_percentage_viewed']) - share)).toBeLessThan(20)
    await page.close()
  }, 240_000)

  test('the startup time is measured, a viewer is counted once, and the site with the link is known', async () => {
    const api = platform.withKey(tenant.key)
    const page = await browser.newPage()
    await page.goto(`${platform.url}/player/${videoId}?autoplay=1&muted=1`, { referer: 'https://blog.example.com/secret?user=7' })
    await waitFor(() => page.locator('video').evaluate((video: Picture) => video.currentTime > 1), {
      timeout: 60_000,
      describe: 'the picture to pass 1 s',
    })
    const realtime = `/analytics/realtime/${tenant.organisationId}`
    await waitFor(async () => Number((await api.get(realtime)).body['views']) >= 1, { timeout: 60_000, describe: 'the view to be active' })
    await page.close({ runBeforeUnload: true })
    const of = `${tenant.organisationId}/video/${videoId}/per-day`
    await waitFor(async () => Number((await api.get<{ started_views: number }[]>(`/analytics/qoe/${of}`)).body[0]?.started_views) >= 2, {
      timeout: 60_000,
      describe: 'the measured starts',
    })
    expect((await api.get(`/analytics/qoe/${of}`)).body).toMatchObject([{ error_views: 0, average_startup_ms: expect.any(Number) }])
    expect((await api.get(`/analytics/viewers/${of}`)).body).toMatchObject([{ unique_viewers: 1 }])
    const readValues = async (dimension: string) => {
      const path = `/analytics/views/${tenant.organisationId}/video/${videoId}/per-dimension?dimension=${dimension}`
      return (await api.get<{ value: string }[]>(path)).body.map(({ value }) => value)
    }
    expect(await Promise.all(['device', 'browser', 'os', 'country'].map(readValues))).toEqual([['desktop'], ['chrome'], ['linux'], ['']])
    expect((await readValues('referrer')).sort()).toEqual(['', 'example.com'])
  }, 240_000)

  test('the session of a view has its startup time, a stall and a switch in order', async () => {
    const api = platform.withKey(tenant.key)
    const page = await browser.newPage()
    const held: (() => void)[] = []
    let isHolding = true
    // The second segment of each rendition is delayed, so that playback stalls after 4 s.
    await page.route(/\/seg-00002\.m4s/, async (route) => {
      if (isHolding) await new Promise<void>((resolve) => held.push(resolve))
      await route.continue()
    })
    await page.goto(`${platform.url}/player/${videoId}`)
    const qualities = (await listChoices(page, 'quality')).filter((label) => /^\d+p$/.test(label))
    const [highest = '', lowest = ''] = [qualities[0], qualities.at(-1)]
    await chooseInMenu(page, 'quality', lowest)
    await page.locator('video').evaluate((video: Picture) => {
      video.muted = true
      return video.play()
    })
    await waitFor(() => page.locator('video').evaluate((video: Picture) => video.currentTime > 3 && video.readyState < 3), {
      timeout: 60_000,
      describe: 'a stall',
    })
    isHolding = false
    for (const release of held) release()
    await waitFor(() => page.locator('video').evaluate((video: Picture) => video.currentTime > 4.5), {
      timeout: 60_000,
      describe: 'the end of the stall',
    })
    await chooseInMenu(page, 'quality', highest)
    await waitFor(() => page.locator('video').evaluate((video: Picture) => video.currentTime > 7), {
      timeout: 60_000,
      describe: 'the picture to pass 7 s',
    })
    await page.goto('about:blank')

    const readSession = async () => {
      const [latest] = (await api.get<{ view_id: string }[]>(`/analytics/sessions/${videoId}?limit=1`)).body
      return (await api.get<Session>(`/analytics/session/${latest?.view_id}`)).body
    }
    let session: Session | undefined
    const toHeight = Number(highest.replace('p', ''))
    const hasAll = ({ stalls, switches, events }: Session) =>
      stalls > 0 && switches > 0 && events.some(({ type }) => type === 'stall') && events.some(({ to_height }) => to_height === toHeight)
    await waitFor(
      async () => {
        session = await readSession()
        return hasAll(session)
      },
      { timeout: 60_000, describe: () => `the session in ${JSON.stringify(session)}` },
    )
    const { startup_ms = 0, stalled_ms = 0, has_error, events = [] } = session ?? {}
    expect([startup_ms > 0, stalled_ms > 0, has_error]).toEqual([true, true, false])
    const order = (find: (event: SessionEvent) => boolean) => events.findIndex(find)
    const started = order(({ state }) => state === 'playing')
    const stalled = order(({ type }) => type === 'stall')
    const switched = order(({ to_height }) => to_height === toHeight)
    expect(started).toBeGreaterThanOrEqual(0)
    expect(stalled).toBeGreaterThan(started)
    expect(switched).toBeGreaterThan(stalled)
    expect(events[stalled]).toMatchObject({ stalled_ms: expect.any(Number), position: expect.any(Number) })
    expect(events[switched]).toMatchObject({ from_height: Number(lowest.replace('p', '')), to_height: toHeight })
    expect(events.map(({ at }) => at)).toEqual(events.map(({ at }) => at).toSorted((a, b) => a - b))
    const days = await api.get<{ switches: number }[]>(`/analytics/qoe/${tenant.organisationId}/video/${videoId}/per-day`)
    expect(days.body[0]?.switches).toBeGreaterThan(0)
  }, 240_000)
})
