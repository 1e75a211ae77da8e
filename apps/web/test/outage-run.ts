import { join } from 'node:path'
import { expect } from '@jest/globals'
import { chooseInMenu, extendTimeout, listChoices, waitFor } from '@vitascope/testing'
import type { Browser, CDPSession, Page } from 'playwright-core'
import type { FaultProxy } from './fault-proxy.ts'

/**
 * `offline`: the browser has lost its network. The other kinds are outages of the server or of the
 * network path.
 */
export type OutageKind = 'killed' | 'restarted' | 'unavailable' | 'blocked' | 'offline'
export const outageKinds: readonly OutageKind[] = ['killed', 'restarted', 'unavailable', 'blocked', 'offline']

export interface OutageRun {
  kind: OutageKind
  browser: Browser
  proxy: FaultProxy
  /** Path and query of the player page. */
  path: string
  /**
   * The browser plays the source natively without hls.js, so there is no choice of quality and
   * captions.
   */
  isNative?: boolean
  /** Minimum duration of the outage. It always lasts until the picture stops. */
  seconds: number
}

/** Effect of an outage on a viewer. */
export interface OutageResult {
  /** Milliseconds from the end of the outage until the picture moved again. */
  resumedAfterMs: number
  outageMs: number
  /**
   * Requests that the page sent during the outage, after its message appeared and at least 1.5 s
   * after the beginning. Earlier ones may already be in flight. Chromium's own repetitions for a
   * `<video>` with a lost connection are excluded, too: up to 30, which a page cannot prevent.
   */
  requests: number
  /** Maximum number of these requests for media and playlists within one second. */
  maxMediaRequestsPerSecond: number
  /** Times of these requests in milliseconds after the beginning of the outage. */
  mediaRequests: string[]
}

/** About 1.5 times the rate of the larger rendition, so a request is always in flight. */
const BYTES_PER_SECOND = 36_000

/**
 * Plays a video over a slow proxy, starts an outage while a segment is loaded, and returns how the
 * player recovered.
 */
export async function runOutage({ kind, browser, proxy, path, isNative = false, seconds }: OutageRun): Promise<OutageResult> {
  const context = await browser.newContext({ viewport: { width: 820, height: 461 } })
  try {
    const page = await context.newPage()
    if (isNative) await page.addInitScript(hideMediaSource)
    // The script is cached first: over the slow proxy it would take 15 s.
    if (isNative) await cacheScript(page, proxy)
    else {
      await page.goto(proxy.url + path.replace('autoplay=1', 'autoplay=0'))
      await waitFor(() => page.locator('video').evaluate((video: HTMLVideoElement) => video.readyState > 0), {
        timeout: 30_000,
        describe: 'the player',
      })
    }
    // An MP4 is one long response. With the browser's throttle, the operating system would buffer
    // all of it before the outage.
    if (isNative) proxy.throttle(BYTES_PER_SECOND)
    const network = isNative ? await page.context().newCDPSession(page) : await throttle(page)
    const sent: { at: number; url: string; type: string }[] = []
    const open = new Set<string>()
    // Uses the browser's clock, because the test may receive the event late.
    network.on('Network.requestWillBeSent', ({ wallTime, request, type }) => {
      if (request.url.startsWith(proxy.url)) sent.push({ at: 1000 * wallTime, url: request.url, type: type ?? 'Other' })
    })
    await network.send('Network.enable')
    page.on('request', (request) => request.url().startsWith(proxy.url) && open.add(request.url()))
    page.on('requestfinished', (request) => open.delete(request.url()))
    page.on('requestfailed', (request) => open.delete(request.url()))

    await page.goto(proxy.url + path)
    await waitFor(async () => (await position(page)) > 1, { timeout: 30_000, describe: 'the video to play' })
    if (isNative) await setRate(page)
    else await choosePreferences(page)
    await waitFor(() => [...open].some((url) => /\.(m4s|mp4)$/.test(url)), { timeout: 30_000, describe: 'a segment request in flight' })

    const startedAt = Date.now()
    await startOutage(kind, proxy, network)
    const message = page.getByText('Connection lost. Trying again')
    await message.waitFor({ timeout: extendTimeout(90_000) })
    const noticedAt = Math.max(Date.now(), startedAt + 1_500)
    expect(await page.getByRole('button', { name: 'Retry' }).isVisible()).toBe(true)
    if (kind === 'killed') await screenshots(page, isNative ? 'outage-native' : 'outage-playing')
    const isDue = () => Date.now() - startedAt >= 1000 * seconds
    if (kind === 'restarted') {
      await waitFor(() => Date.now() - startedAt >= 500 * seconds, { timeout: 1000 * seconds, describe: 'half of the outage' })
      await proxy.startOutage('unavailable')
    }
    await waitFor(async () => isDue() && (await isStalled(page)), {
      timeout: 60_000 + 1000 * seconds,
      describe: 'the picture to stop',
    })

    if (kind === 'killed') await screenshots(page, isNative ? 'outage-native-stalled' : 'outage-stalled')
    const from = await position(page)
    const endedAt = Date.now()
    await endOutage(kind, proxy, network)
    await waitFor(async () => (await position(page)) > from + 0.2, { timeout: 60_000, describe: 'the picture to move again' }).catch(
      async (error: Error) => {
        throw new Error(`${error.message}: ${await videoState(page)}`)
      },
    )
    const resumedAfterMs = Date.now() - endedAt
    await message.waitFor({ state: 'hidden', timeout: extendTimeout(5_000) })
    expect(await page.locator('video').evaluate((video: HTMLVideoElement) => [video.paused, video.playbackRate])).toEqual([false, 1.25])
    if (!isNative) await expectPreferences(page)

    const isRepeatedByBrowser = (type: string) => kind !== 'unavailable' && type === 'Media'
    const during = sent.filter(({ at, type }) => at > noticedAt && at < endedAt && !isRepeatedByBrowser(type))
    const media = during.filter(({ url }) => url.includes('/media/')).map(({ at }) => at)
    return {
      resumedAfterMs,
      outageMs: endedAt - startedAt,
      requests: during.length,
      mediaRequests: during
        .filter(({ url }) => url.includes('/media/'))
        .map(({ at, url }) => `${Math.round(at - startedAt)} ${new URL(url).pathname}`),
      maxMediaRequestsPerSecond: Math.max(0, ...media.map((start) => media.filter((at) => at >= start && at < start + 990).length)),
    }
  } finally {
    await context.close()
    await proxy.endOutage()
  }
}

/** Loads the script without media, because the browser would buffer minutes of an MP4. */
async function cacheScript(page: Page, proxy: FaultProxy): Promise<void> {
  await page.route('**/media/**', (route) => route.abort())
  await page.goto(`${proxy.url}/player/hls`)
  await page.getByText('Connection lost. Trying again').waitFor({ timeout: extendTimeout(30_000) })
  await page.unroute('**/media/**')
}

/**
 * Saves screenshots of three widths for manual review. `arrange` is called after each change of the
 * width.
 */
export async function screenshots(page: Page, name: string, arrange: () => Promise<unknown> = async () => {}): Promise<void> {
  if (!process.env['VITASCOPE_SCREENSHOTS']) return
  for (const width of [390, 820, 1440]) {
    await page.setViewportSize({ width, height: Math.round((width * 9) / 16) })
    await arrange()
    await screenshot(page, `${name}-${width}`)
  }
}

/** Saves a screenshot for manual review in the folder `VITASCOPE_SCREENSHOTS`. */
export async function screenshot(page: Page, name: string): Promise<void> {
  const folder = process.env['VITASCOPE_SCREENSHOTS']
  if (folder) await page.screenshot({ path: join(folder, `${name}.png`) })
}

const position = (page: Page) => page.locator('video').evaluate((video: HTMLVideoElement) => video.currentTime)

/** Returns JSON that explains why the picture does not move. */
function videoState(page: Page): Promise<string> {
  return page.locator('video').evaluate((video: HTMLVideoElement) => {
    const { buffered, currentTime, paused, readyState, seeking, networkState, error } = video
    const ranges = Array.from({ length: buffered.length }, (_, range) => [buffered.start(range), buffered.end(range)])
    return JSON.stringify({ currentTime, buffered: ranges, paused, readyState, seeking, networkState, error: error?.message })
  })
}

async function isStalled(page: Page): Promise<boolean> {
  const before = await position(page)
  await page.waitForTimeout(300)
  return (await position(page)) === before
}

/** Throttles the page to `BYTES_PER_SECOND`. */
export async function throttle(page: Page): Promise<CDPSession> {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  await setNetwork(session, false)
  return session
}

function setNetwork(session: CDPSession, offline: boolean) {
  const throughput = { downloadThroughput: BYTES_PER_SECOND, uploadThroughput: BYTES_PER_SECOND }
  return session.send('Network.emulateNetworkConditions', { offline, latency: 20, ...throughput })
}

async function startOutage(kind: OutageKind, proxy: FaultProxy, network: CDPSession): Promise<void> {
  if (kind === 'offline') await setNetwork(network, true)
  else await proxy.startOutage(kind === 'blocked' ? 'silent' : kind === 'unavailable' ? 'unavailable' : 'closed')
}

async function endOutage(kind: OutageKind, proxy: FaultProxy, network: CDPSession): Promise<void> {
  if (kind === 'offline') await setNetwork(network, false)
  else await proxy.endOutage()
}

/** Chooses a quality, captions and a speed that differ from the player's defaults. */
async function choosePreferences(page: Page): Promise<void> {
  await chooseInMenu(page, 'quality', '180p')
  await chooseInMenu(page, 'captions', 'nl')
  await setRate(page)
  await waitFor(() => page.locator('video').evaluate((video: HTMLVideoElement) => video.videoHeight === 180), {
    timeout: 60_000,
    describe: 'the larger rendition',
  })
}

const setRate = (page: Page) =>
  page.locator('video').evaluate((video: HTMLVideoElement) => {
    video.playbackRate = 1.25
  })

function hideMediaSource(): void {
  for (const name of ['MediaSource', 'ManagedMediaSource', 'WebKitMediaSource']) Reflect.deleteProperty(window, name)
}

async function expectPreferences(page: Page): Promise<void> {
  const preferences = await page.locator('video').evaluate((video: HTMLVideoElement) => ({
    height: video.videoHeight,
    captions: [...video.textTracks].filter(({ mode }) => mode === 'showing').map(({ language }) => language),
  }))
  expect(preferences).toEqual({ height: 180, captions: ['nl'] })
  expect(await listChoices(page, 'quality')).toContain('✓ 180p')
}
