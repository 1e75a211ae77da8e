import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { browserArguments, browserPath, waitFor } from '@vitascope/testing'
import { type Browser, chromium, type Frame, type Page } from 'playwright-core'
import { startSourceServer } from '../../e2e/support/source-server.ts'
import { makeSource } from '../../e2e/support/sources.ts'
import { startTestPlatform } from '../../e2e/support/test-platform.ts'
import { startThirdPartySite } from '../../e2e/support/third-party-site.ts'
import { createTenant, upload, waitUntilSettled } from '../../e2e/support/video-steps.ts'
import { endOnSignal } from '../end-on-signal.ts'
import type { ReportFigure } from '../figure.ts'
import { median } from '../ratio.ts'

const GOALS_MS = { page: 1_000, facade: 400, command: 100 }

/** Commands. Their values differ in each round, because a command that changes nothing is faster. */
const COMMANDS: readonly [name: string, toValues: (round: number) => unknown[]][] = [
  ['getState', () => []],
  ['play', () => []],
  ['setRate', (round) => [1 + (round % 4) / 4]],
  ['setVolume', (round) => [(round % 10) / 10, true]],
  ['seek', (round) => [round % 10]],
  ['setTrack', (round) => ['quality', round % 2 === 0 ? null : '0']],
  ['pause', () => []],
]

/**
 * Runs in every frame before its own scripts. Stores the time of the first frame of the video, and of the last click,
 * in milliseconds since 1970.
 */
const RECORDER = `
  const now = () => performance.timeOrigin + performance.now()
  addEventListener('click', () => { globalThis.clickTime = now() }, { capture: true })
  const wait = () => {
    const video = document.querySelector('vitascope-player')?.shadowRoot?.querySelector('video') ?? document.querySelector('video')
    if (video) video.requestVideoFrameCallback(() => { globalThis.frameTime = now() })
    else requestAnimationFrame(wait)
  }
  if (location.pathname.startsWith('/player/')) requestAnimationFrame(wait)`

interface Recorded {
  clickTime?: number
  frameTime?: number
  performance: { timeOrigin: number }
}

/** Measures the time until the first frame of a video: of a player page, and after a click on a façade. The cache is warm. */
export async function bench(args: string[], report: ReportFigure): Promise<void> {
  const { values } = parseArgs({ args, options: { rounds: { type: 'string', default: '10' } } })
  const rounds = Number(values.rounds)
  if (!rounds) throw new Error('--rounds must be a number above 0')
  const executablePath = browserPath()
  if (executablePath === undefined) throw new Error('Chromium is missing: apt-get install chromium-headless-shell')
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-bench-player-'))
  const ends: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })]
  const end = async () => {
    for (const close of ends.splice(0).reverse()) await close()
  }
  endOnSignal(end)
  try {
    const sources = await startSourceServer(folder)
    ends.push(() => sources.close())
    const site = await startThirdPartySite()
    ends.push(() => site.close())
    await makeSource(folder, 'good.mp4')
    const platform = await startTestPlatform()
    ends.push(() => platform.remove())
    const tenant = await createTenant(platform.system)
    const api = platform.withKey(tenant.key)
    const { id } = await upload(api, tenant.organisationId, `${sources.url}/good.mp4`)
    await waitUntilSettled(api, id)
    const { body: code } = await platform.guest.get<[string]>(`/embed/${id}/facade`)
    site.serve('/facade', `<h1>News</h1><main style="width: 640px">${code[0]}</main>`)
    const browser = await chromium.launch({ executablePath, args: [...browserArguments] })
    ends.push(() => browser.close())

    await reportTimes('page', 'first frame of a player page', (page) => openPage(page, `${platform.url}/player/${id}?autoplay=1&muted=1`))
    await reportTimes('facade', 'first frame after a click on a façade', (page) => clickFacade(page, `${site.url}/facade`))

    site.serveScript('/player.js', await readFile(join(import.meta.dirname, '../../packages/player/dist/player.js'), 'utf8'))
    site.serve(
      '/commands',
      `<iframe width="640" height="360" allow="autoplay" src="${platform.url}/player/${id}?muted=1"></iframe>
       <script type="module">
         import { createPlayer } from '/player.js'
         globalThis.player = createPlayer(document.querySelector('iframe'))
       </script>`,
    )
    const page = await browser.newPage()
    const [slowest, times] = await measureCommands(page, `${site.url}/commands`, rounds)
    report({
      ...{ row: 'command', title: `answer to the slowest command of a page, ${slowest} (median, fastest and slowest of ${rounds})` },
      ...{ unit: 'ms', goal: { atMost: GOALS_MS.command } },
      value: { median: median(times), low: Math.min(...times), high: Math.max(...times) },
    })

    async function reportTimes(row: 'page' | 'facade', title: string, measure: (page: Page) => Promise<number>): Promise<void> {
      const times = await measureRounds(browser, rounds, measure)
      report({
        ...{ row, title: `${title}, warm cache (median, fastest and slowest of ${rounds})`, unit: 'ms', goal: { atMost: GOALS_MS[row] } },
        value: { median: median(times), low: Math.min(...times), high: Math.max(...times) },
      })
    }
  } finally {
    await end()
  }
}

/** Returns the times of the rounds in milliseconds. Runs one more round before, which fills the cache and is not counted. */
async function measureRounds(browser: Browser, rounds: number, measure: (page: Page) => Promise<number>): Promise<number[]> {
  const context = await browser.newContext()
  await context.addInitScript(RECORDER)
  const times: number[] = []
  for (let round = 0; round <= rounds; round++) {
    const page = await context.newPage()
    const time = await measure(page)
    if (round > 0) times.push(time)
    await page.close()
  }
  await context.close()
  return times
}

async function openPage(page: Page, url: string): Promise<number> {
  await page.goto(url)
  const frameTime = await readFrameTime(page.mainFrame())
  return frameTime - (await page.evaluate(() => (globalThis as unknown as Recorded).performance.timeOrigin))
}

async function clickFacade(page: Page, url: string): Promise<number> {
  await page.goto(url)
  await page.locator('[data-vitascope-video] img.shown').waitFor()
  await page.getByRole('button').click()
  const clickTime = await page.evaluate(() => (globalThis as unknown as Recorded).clickTime ?? Number.NaN)
  const frame = await waitFor(() => page.frames().find((child) => child.url().includes('/player/')), {
    describe: 'the frame of the player',
  })
  return (await readFrameTime(frame)) - clickTime
}

/** Returns the command with the longest median, and its times in milliseconds. */
async function measureCommands(page: Page, url: string, rounds: number): Promise<[name: string, times: number[]]> {
  await page.goto(url)
  const times = COMMANDS.map(([name]): [string, number[]] => [name, []])
  for (let round = 0; round < rounds; round++) {
    for (const [nth, [name, toValues]] of COMMANDS.entries())
      times[nth]?.[1].push(await page.evaluate(runCommand, { name, values: toValues(round) }))
  }
  const [slowest] = times.toSorted(([, a], [, b]) => median(b) - median(a))
  if (!slowest) throw new Error('there is no command')
  return slowest
}

/** Runs in the page. */
async function runCommand({ name, values }: { name: string; values: unknown[] }): Promise<number> {
  const { player } = globalThis as unknown as {
    player: { ready: Promise<unknown> } & Record<string, (...values: unknown[]) => Promise<unknown>>
  }
  await player.ready
  const began = performance.now()
  await player[name]?.(...values)
  return performance.now() - began
}

function readFrameTime(frame: Frame): Promise<number> {
  return waitFor(() => frame.evaluate(() => (globalThis as unknown as Recorded).frameTime), { describe: 'the first frame' })
}
