import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findFfmpeg } from '@vitascope/media'
import { browserArguments, browserPath, waitFor, waitForMenu } from '@vitascope/testing'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { addTracks, createMedia, startTestPlatform } from './stand-in-platform.ts'

/** The player page in a browser, with a server that has the records of a test. */
export interface PlayerFixture {
  platform: Awaited<ReturnType<typeof startTestPlatform>>
  browser: Browser
  /** Errors of the console and of scripts since the last `openPage`. */
  errors: string[]
  /** Opens a page in a new context, and closes the earlier ones. */
  openPage(options?: BrowserContextOptions): Promise<Page>
  /** Record of a video with three qualities, captions in three languages and two audio tracks. */
  video(changes?: Record<string, unknown>): Record<string, unknown>
  /** Opens a video and waits until it can be played. */
  open(page: Page, id: string, query?: string): Promise<void>
  stop(): Promise<void>
}

export async function startPlayerFixture(): Promise<PlayerFixture> {
  const media = mkdtempSync(join(tmpdir(), 'vitascope-player-'))
  createMedia((await findFfmpeg({ path: process.env['VITASCOPE_FFMPEG'] })).ffmpeg, media)
  addTracks(media)
  const platform = await startTestPlatform(media)
  const browser = await chromium.launch({ executablePath: browserPath() ?? '', args: [...browserArguments] })
  const errors: string[] = []
  return {
    platform,
    browser,
    errors,
    async openPage(options = {}) {
      for (const context of browser.contexts()) await context.close()
      const page = await (await browser.newContext({ viewport: { width: 960, height: 540 }, ...options })).newPage()
      errors.length = 0
      page.on('console', (message) => message.type() === 'error' && errors.push(`${message.text()} ${message.location().url}`))
      page.on('pageerror', (error) => errors.push(error.message))
      return page
    },
    video: (changes = {}) => ({
      video_title: 'Launch',
      duration: '6.02',
      uri: { hls: `${platform.url}/media/tracks.m3u8`, poster_frame: `${platform.url}/media/poster.jpg`, http: {} },
      status: { status: 'ok', progress: 100, code: 2000 },
      ...changes,
    }),
    async open(page, id, query = '?muted=1') {
      await page.goto(`${platform.url}/player/${id}${query}`)
      await waitForMenu(page, 'captions')
    },
    async stop() {
      await browser.close()
      await platform.stop()
      rmSync(media, { recursive: true, force: true })
    },
  }
}

/** Reads a property of the `<video>`. */
export const readVideo = <Value>(page: Page, read: (video: HTMLVideoElement) => Value) => page.locator('video').evaluate(read)

/** Waits until the position is in a range of seconds. */
export const waitForPosition = (page: Page, from: number, to: number) =>
  waitFor(
    async () => {
      const seconds = await readVideo(page, (video) => video.currentTime)
      return seconds >= from && seconds <= to
    },
    { timeout: 20_000, describe: `a position from ${from} to ${to} s` },
  )
