import { parseArgs } from 'node:util'
import { browserArguments, browserPath, waitFor } from '@vitascope/testing'
import { chromium, type Locator, type Page } from 'playwright-core'
import { createPerson, settle, signIn } from '../../e2e/support/console-page.ts'
import { endOnSignal } from '../end-on-signal.ts'
import { type ReportFigure, singleValue } from '../figure.ts'
import { startFilledPlatform } from '../overload/filled-platform.ts'
import { copyVideos } from '../reads/copy-videos.ts'

const GOAL_MS = 200
const EMAIL = 'editor@example.org'
const PASSWORD = 'correct horse battery'
/** Runs in the page. Events of one interaction have the same id. The duration of an interaction is that of its longest event. */
const RECORDER = `
  globalThis.interactions = new Map()
  new PerformanceObserver((list) => {
    for (const { interactionId, duration } of list.getEntries()) {
      if (interactionId) interactions.set(interactionId, Math.max(duration, interactions.get(interactionId) ?? 0))
    }
  }).observe({ type: 'event', buffered: true, durationThreshold: 16 })`

/** Measures how soon the library of the console paints after clicks and keys, with many videos. */
export async function bench(args: string[], report: ReportFigure): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { videos: { type: 'string', default: '100000' }, rounds: { type: 'string', default: '5' } },
  })
  const [videos, rounds] = [Number(values.videos), Number(values.rounds)]
  if (!videos || !rounds) throw new Error('--videos and --rounds must be numbers above 0')
  const executablePath = browserPath()
  if (executablePath === undefined) throw new Error('Chromium is missing: apt-get install chromium-headless-shell')
  const { platform, filled, stop } = await startFilledPlatform(1)
  endOnSignal(stop)
  try {
    const { organisationId } = await copyVideos(platform, filled, videos)
    await createPerson(platform.system, { email: EMAIL, name: 'Console Editor', userType: 'standard', password: PASSWORD, organisationId })
    const browser = await chromium.launch({ executablePath, args: [...browserArguments] })
    try {
      const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, locale: 'en-GB' })
      await page.addInitScript(RECORDER)
      await page.goto(`${platform.url}/console/videos`)
      await signIn(page, EMAIL, PASSWORD)
      await page.getByRole('heading', { name: 'Videos' }).waitFor()
      await settle(page)
      const loads: number[] = []
      for (let round = 0; round < rounds; round++) loads.push(...(await useLibrary(page)))
      const durations = (await page.evaluate('[...interactions.values()]')) as number[]
      const interactionCount = (await page.evaluate('performance.interactionCount')) as number
      // The browser does not report events shorter than the threshold of 16 ms. They count as 16 ms.
      const all = [...durations, ...Array.from({ length: Math.max(0, interactionCount - durations.length) }, () => 16)]
      report({
        ...{ row: 'interaction', title: `p75 of the time from an interaction to the next paint, ${videos} videos`, unit: 'ms' },
        ...{ value: singleValue(quantile(all, 0.75)), goal: { atMost: GOAL_MS } },
        detail: `${all.length} interactions, p50 ${quantile(all, 0.5)} ms, slowest ${Math.max(...all)} ms`,
      })
      report({
        ...{ row: 'page', title: 'p75 of the time until another page of the library is shown', unit: 'ms' },
        ...{ value: singleValue(quantile(loads, 0.75)), detail: `p50 ${Math.round(quantile(loads, 0.5))} ms` },
      })
    } finally {
      await browser.close()
    }
  } finally {
    await stop()
  }
}

/** Filters, selects and turns pages. Returns the time in milliseconds until another page was shown, for each turned page. */
async function useLibrary(page: Page): Promise<number[]> {
  const times: number[] = []
  const turn = async (button: Locator) => {
    const first = page.locator('.video-card-link, .table-title').first()
    const before = await first.getAttribute('href')
    const started = performance.now()
    await button.click()
    await waitFor(async () => (await first.getAttribute('href')) !== before, { interval: 5, describe: 'another page' })
    times.push(performance.now() - started)
  }
  const next = page.getByRole('button', { name: 'Next page' })
  const numbered = page.getByRole('button', { name: /^Page \d+$/ })
  for (const button of [next, next, numbered.last(), numbered.first()]) await turn(button)
  await page.getByRole('img', { name: 'Table' }).click()
  await page.getByRole('table').waitFor()
  await page.getByLabel('Select all on this page').click()
  await page.getByLabel('Select all on this page').click()
  await page.getByRole('combobox', { name: 'Order' }).click()
  await page.getByRole('option', { name: 'Title A to Z' }).click()
  await settle(page)
  await page.getByRole('searchbox').pressSequentially('launch', { delay: 60 })
  await settle(page)
  await page.getByRole('searchbox').fill('')
  await page.getByRole('img', { name: 'Grid' }).click()
  await page.getByRole('table').waitFor({ state: 'detached' })
  await page.getByRole('combobox', { name: 'Order' }).click()
  await page.getByRole('option', { name: 'Newest first' }).click()
  await settle(page)
  return times
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
