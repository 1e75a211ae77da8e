import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { browserArguments, browserPath, waitFor } from '@vitascope/testing'
import { buildCountryDatabase } from '@vitascope/testing/country-database'
import { type Browser, chromium, type Page } from 'playwright-core'
import { BROWSER, buildEvent, type EventFields } from './support/analytics-steps.ts'
import type { Api } from './support/api.ts'
import { createPerson, expectNoSidewaysScroll, openConsolePage, openSignedIn, settle } from './support/console-page.ts'
import { checkState } from './support/page-state.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, type Tenant, upload } from './support/video-steps.ts'

const browserFile = browserPath()
const describeInBrowser = browserFile === undefined ? describe.skip : describe
const EMAIL = 'ada@example.org'
const PASSWORD = 'correct horse battery'
const HOSTILE = `<img src=x onerror=alert(1)>"'{{7*7}}`
const PHONE = 'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile Safari/537.36'

let folder: string
let platform: TestPlatform
let tenant: Tenant
let api: Api
let browser: Browser
let page: Page
let problems: string[]
let videoId: string

/** Sends events of one player. The address has a country in the database of the test. */
const send = async (events: readonly EventFields[], { address = '203.0.113.7', userAgent = BROWSER['user-agent'] } = {}) => {
  const headers = { 'x-forwarded-for': address, 'user-agent': userAgent }
  const { status, body } = await platform.guest.post<{ accepted: number }>('/analytics/events', [...events], headers)
  expect([status, body.accepted]).toEqual([202, events.length])
}
const expectRow = async (tab: string, row: RegExp) => {
  await page.getByRole('tab', { name: tab, exact: true }).click()
  await page.getByRole('tabpanel', { name: tab }).getByRole('row', { name: row }).waitFor()
}
const section = (heading: string) => page.locator('section').filter({ has: page.getByRole('heading', { name: heading, exact: true }) })

/** Each test continues in the state in which the previous one ended. */
describeInBrowser('the analytics of the console', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'console-analytics-'))
    const countries = join(folder, 'countries.mmdb')
    await writeFile(countries, buildCountryDatabase({ '203.0.113.0/24': 'DE', '198.51.100.0/24': 'NL' }))
    platform = await startTestPlatform({ VITASCOPE_COUNTRY_DATABASE_FILE: countries, VITASCOPE_TRUST_PROXY: '127.0.0.1' })
    tenant = await createTenant(platform.system)
    api = platform.withKey(tenant.key)
    // Views of a video without a file count, too.
    videoId = (await upload(api, tenant.organisationId, 'https://unknown.invalid/video.mp4', { name: HOSTILE })).id
    await createPerson(platform.system, { email: EMAIL, name: 'Ada Byron', userType: 'standard', password: PASSWORD, ...tenant })
    browser = await chromium.launch({ executablePath: browserFile ?? '', args: [...browserArguments] })
    page = await openConsolePage(browser, (problem) => problems.push(problem))
    await openSignedIn(page, { url: platform.url, path: 'analytics', heading: 'Analytics' }, { email: EMAIL, password: PASSWORD })
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

  test('an organisation without views has empty lists', async () => {
    await settle(page)
    await section('Audience').getByText('There are no views in this period').waitFor()
    await section('Watched now').getByText('Nothing is watched now').waitFor()
    await section('Last 30 minutes').getByText('Nothing was watched in the last 30 minutes').waitFor()
    await section('Playback quality').getByText('No player measured the quality in this period').waitFor()
    await checkState(page, 'console-analytics-organisation-empty')
    await page.goto(`${platform.url}/console/videos/${videoId}?tab=analytics`)
    await section('Audience retention').getByText('There are no views in this period').waitFor()
    await section('Playback quality').getByText('No player measured the quality in this period').waitFor()
    await checkState(page, 'console-analytics-empty')
  }, 60_000)

  test('shows who watches: devices, browsers, countries, languages and sites', async () => {
    const qoe = { startup_ms: 250, stalls: 1, stalled_ms: 1_500, switches: 2 }
    const watched = { type: 'progress', position: 1, watched: [[0, 1]], referrer: 'blog.example.com', language: 'de', subtitle: 'en', qoe }
    await send([buildEvent(videoId, { referrer: 'www.example.com' }), buildEvent(videoId, watched)])
    await send([buildEvent(videoId, { type: 'play', qoe: { startup_ms: 750, error: 'network' } })], {
      address: '198.51.100.9',
      userAgent: PHONE,
    })
    const report = `/analytics/views/${tenant.organisationId}/per-dimension?dimension=country`
    await waitFor(async () => (await api.get<unknown[]>(report)).body.length === 2, { describe: 'the views to be counted' })

    await page.goto(`${platform.url}/console/analytics`)
    const figure = (name: string) => page.locator('.mantine-Paper-root').filter({ has: page.getByText(name, { exact: true }) })
    await figure('In the last 5 minutes').getByText('3', { exact: true }).waitFor()
    await figure('Watching now').getByText('3', { exact: true }).waitFor()
    // The views may have arrived in two minutes.
    await section('Last 30 minutes')
      .getByRole('img', { name: /^Last 30 minutes: 2 plays started, at most [23] watched/ })
      .waitFor()
    await section('Playback quality').getByText('Measured by players in 2 views.').waitFor()
    await section('Playback quality').getByText('0.75 s').waitFor()
    await expectRow('Devices', /^Computer 2 1 66\.7%$/)
    await expectRow('Devices', /^Phone 1 1 33\.3%$/)
    await expectRow('Browsers', /^Chrome 3 2 100%$/)
    await expectRow('Systems', /^Android 1/)
    await expectRow('Countries', /^Germany 2/)
    await expectRow('Countries', /^Netherlands 1/)
    await expectRow('Languages', /^German 1/)
    await expectRow('Subtitles', /^English 1/)
    await expectRow('Sites', /^Direct or unknown 1/)
    await expectRow('Sites', /^example\.com 2 1 66\.7%$/)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Export this list as CSV' }).click(),
    ])
    expect(await text(await download.createReadStream())).toContain(`,${videoId},referrer,example.com,2,1,`)
    await checkState(page, 'console-analytics-audience')
    await expectNoSidewaysScroll(page)
  }, 60_000)

  test('leads to a video that is watched now, and shows how much and how well it is watched', async () => {
    await section('Watched now').getByRole('link', { name: HOSTILE }).click()
    await section('Audience retention').waitFor()
    const quality = section('Playback quality')
    await quality.getByText('Measured by players in 2 views.').waitFor()
    await quality.getByText('0.5 s').waitFor()
    await quality.getByText('0.75 s').waitFor()
    expect(await quality.getByText('50%').count()).toBe(2)
    await expectRow('Countries', /^Netherlands 1 1 33\.3%$/)
    await expectRow('Languages', /^German 1 1 33\.3%$/)
    expect(await page.getByRole('tab', { name: 'Subtitles', exact: true }).count()).toBe(0)
    await section('Views per day').getByRole('button', { name: 'Show as a table' }).click()
    await page.getByRole('row', { name: /^\d{4}-\d\d-\d\d 3 2 2 0:01$/ }).waitFor()
    await page.getByRole('button', { name: 'Show as a chart' }).click()
    await page.getByText('Watch time', { exact: true }).last().click()
    await page.getByRole('img', { name: 'Watch time: 0:01' }).waitFor()
    const minutes = section('Last 30 minutes')
    await minutes.getByRole('img', { name: /^Last 30 minutes: 2 plays started/ }).waitFor()
    await minutes.getByRole('button', { name: 'Show as a table' }).click()
    await waitFor(async () => (await minutes.getByRole('row').count()) === 31, { describe: 'a row for each minute' })
    await minutes.getByRole('button', { name: 'Show as a chart' }).click()
    await checkState(page, 'console-video-audience')
    await expectNoSidewaysScroll(page)
  }, 60_000)

  test('the last minutes follow new views by themselves, and stay when a request fails', async () => {
    const chart = section('Last 30 minutes').getByRole('img')
    await chart.waitFor()
    await send([buildEvent(videoId, { type: 'play' }), buildEvent(videoId, { type: 'play' })])
    await section('Last 30 minutes')
      .getByRole('img', { name: /: 4 plays started/ })
      .waitFor()
    const problem = { code: 'internal', detail: 'a fault of this test' }
    await page.route('**/per-minute', (route) => route.fulfill({ status: 500, json: problem }))
    await page.getByText('What this page shows is not up to date').waitFor()
    expect(await chart.getAttribute('aria-label')).toMatch(/: 4 plays started/)
    await page.unroute('**/per-minute')
    await page.getByText('What this page shows is not up to date').waitFor({ state: 'detached' })
  }, 90_000)

  test('a chart of many views passes axe, in English and German', async () => {
    const last = Math.floor(Date.now() / 60_000) * 60_000
    const rows = Array.from({ length: 30 }, (_, index) => ({
      ...{ minute: new Date(last - (29 - index) * 60_000).toISOString().slice(0, 19).replace('T', ' ') },
      ...{ organisation_id: tenant.organisationId, player_loads: 40, video_plays: 20 + 10 * (index % 4) },
      active_views: 1_000 + 40 * index - 300 * (index % 5),
    }))
    await page.route('**/per-minute', (route) => route.fulfill({ json: rows }))
    await page.goto(`${platform.url}/console/analytics`)
    await section('Last 30 minutes')
      .getByRole('img', { name: /at most 2,000 watched/ })
      .waitFor()
    await checkState(page, 'console-analytics-minutes')
    await expectNoSidewaysScroll(page)
    await page.evaluate(`localStorage.setItem('vitascope-language', 'de')`)
    await page.reload()
    await section('Letzte 30 Minuten')
      .getByRole('img', { name: /höchstens 2\.000/ })
      .waitFor()
    await expectNoSidewaysScroll(page)
    await page.evaluate(`localStorage.removeItem('vitascope-language')`)
    await page.unroute('**/per-minute')
  }, 60_000)

  test('does not show the views of another organisation', async () => {
    const other = await createTenant(platform.system)
    const { id } = await upload(platform.withKey(other.key), other.organisationId, 'https://unknown.invalid/video.mp4')
    await send([buildEvent(id, { type: 'play', referrer: 'foreign.example' })])
    const report = `/analytics/views/${other.organisationId}/per-dimension?dimension=referrer`
    const otherApi = platform.withKey(other.key)
    await waitFor(async () => (await otherApi.get<unknown[]>(report)).body.length === 1, { describe: 'the view to be counted' })
    expect(await api.get(report)).toMatchObject({ status: 403, body: { code: 'foreign_organisation' } })
    await page.goto(`${platform.url}/console/analytics`)
    await expectRow('Sites', /^example\.com 2/)
    expect(await page.getByText('foreign.example').count()).toBe(0)
  }, 60_000)
})
