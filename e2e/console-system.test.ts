import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { browserArguments, browserPath, extendTimeout, waitFor } from '@vitascope/testing'
import { type Browser, chromium, type Page } from 'playwright-core'
import type { Api } from './support/api.ts'
import { createPerson, expectNoSidewaysScroll, listAllVideos, openConsolePage, settle, signIn } from './support/console-page.ts'
import { checkState } from './support/page-state.ts'
import { type SourceServer, startSourceServer } from './support/source-server.ts'
import { makeSource } from './support/sources.ts'
import { checkFailoversPage, checkStoragePage, checkWorkersPage, findFigure, type Organisation } from './support/system-page-steps.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, type Tenant, upload, waitUntilSettled } from './support/video-steps.ts'

const browserFile = browserPath()
const describeInBrowser = browserFile === undefined ? describe.skip : describe
const PASSWORD = 'correct horse battery'
const PEOPLE = {
  system: { email: 'root@example.org', name: 'Rosa Root' },
  standard: { email: 'grace@example.org', name: 'Grace Hopper' },
  uploader: { email: 'ada@example.org', name: 'Ada Byron' },
} as const

const SYSTEM_PAGES = ['organisations', 'jobs', 'workers', 'storage', 'failovers', 'health', 'audit'].map((name) => `system/${name}`)

let folder: string
let platform: TestPlatform
let sources: SourceServer
let tenant: Tenant
let api: Api
let browser: Browser
let page: Page
let problems: string[]
const listOrganisations = async () => (await platform.system.get<Organisation[]>('/organisation')).body
const findOrganisation = async (name: string) => (await listOrganisations()).find((organisation) => organisation.name === name)
const setQuota = async (quota: Record<string, number> | null) => {
  const { status } = await platform.system.put(`/organisation/${tenant.organisationId}`, { quota })
  expect(status).toBe(200)
}

/** Work of users of each role. Some tests continue in the state in which the previous one ended. */
describeInBrowser('the pages of the console for administrators', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'console-system-'))
    await makeSource(folder, 'small.mp4')
    await makeSource(folder, 'long.mp4')
    sources = await startSourceServer(folder)
    platform = await startTestPlatform()
    tenant = await createTenant(platform.system)
    api = platform.withKey(tenant.key)
    for (const [userType, person] of Object.entries(PEOPLE)) {
      await createPerson(platform.system, { ...person, userType, password: PASSWORD, organisationId: tenant.organisationId })
    }
    browser = await chromium.launch({ executablePath: browserFile ?? '', args: [...browserArguments] })
    page = await openConsolePage(browser, (problem) => problems.push(problem))
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await platform?.remove()
    await sources?.close()
    await rm(folder, { recursive: true, force: true })
  })
  beforeEach(() => {
    problems = []
  })
  afterEach(async () => {
    await setQuota(null)
    expect(problems).toEqual([])
  })

  const enter = async (user: keyof typeof PEOPLE, path: string) => {
    await page.context().clearCookies()
    await page.goto(`${platform.url}/console/${path}`)
    await signIn(page, PEOPLE[user].email, PASSWORD)
    await page.getByRole('heading', { level: 1 }).filter({ hasNotText: 'Sign in' }).waitFor()
  }

  test('the page at / leads to the console, in light and dark and on a telephone', async () => {
    await page.goto(platform.url)
    await checkState(page, 'landing')
    await expectNoSidewaysScroll(page)
    await page.getByRole('link', { name: 'Open the console' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  }, 60_000)

  test('an unknown address is a page with a way back', async () => {
    const response = await page.goto(`${platform.url}/nothing`)
    expect(response?.status()).toBe(404)
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
    await checkState(page, 'error-404')
    await expectNoSidewaysScroll(page)
    await page.getByRole('link', { name: 'To the start page' }).click()
    await page.getByRole('heading', { name: 'Your videos, on your own servers' }).waitFor()
    const problem = await page.goto(`${platform.url}/v2/nothing`)
    expect(problem?.headers()['content-type']).toBe('application/problem+json')
  }, 60_000)

  test('a system user selects the theme of videos without one', async () => {
    const { status } = await api.post(`/theme/${tenant.organisationId}`, { title: 'House colours' })
    expect(status).toBe(201)
    await enter('system', 'organisation')
    const section = page.getByRole('region', { name: 'Player of all videos' })
    await section.getByRole('combobox', { name: 'Theme' }).click()
    await page.getByRole('option', { name: 'House colours' }).click()
    await section.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved', { exact: true }).waitFor()
    const { body } = await platform.system.get<Record<string, string>>(`/organisation/${tenant.organisationId}`)
    const { body: theme } = await api.get<Record<string, string>>(`/theme/${body['default_theme_id']}`)
    expect([theme['title'], body['default_setting_id']]).toEqual(['House colours', ''])
    await waitFor(() => section.getByRole('button', { name: 'Save' }).isDisabled(), { describe: 'the saved form' })
  }, 60_000)

  test('a system user deletes the only video of a media', async () => {
    const { id } = await upload(api, tenant.organisationId, `${sources.url}/none.mp4`)
    await enter('system', `videos/${id}`)
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('heading', { name: 'Videos' }).waitFor()
    expect((await api.get(`/video/${id}`)).status).toBe(404)
  }, 60_000)

  test('a system user creates an organisation with a quota, and changes it', async () => {
    await enter('system', 'system')
    await page.getByRole('heading', { name: 'Organisations' }).waitFor()
    await page.getByRole('button', { name: 'Create an organisation' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Second House')
    await dialog.getByLabel('Storage in GB').fill('1.5')
    await dialog.getByLabel('Minutes per month').fill('600')
    await dialog.getByRole('button', { name: 'Create an organisation' }).click()
    const row = page.getByRole('row').filter({ hasText: 'Second House' })
    await dialog.waitFor({ state: 'detached' })
    await row.getByText('0 of 600').waitFor()
    const quota = { bytes: '1500000000', minutes_per_month: '600', concurrent_jobs: null }
    expect(await findOrganisation('Second House')).toMatchObject({ status: 'active', quota })

    await row.getByRole('button', { name: 'Edit: Second House' }).click()
    await dialog.getByLabel('Allowed IP addresses').fill('300.1.1.1')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('must be', { exact: false }).waitFor()
    // Another person changes a limit, which is kept.
    const id = (await findOrganisation('Second House'))?.organisation_id
    const theirs = { bytes: 1_500_000_000, minutes_per_month: 600, concurrent_jobs: 3 }
    expect((await platform.system.put(`/organisation/${id}`, { quota: theirs })).status).toBe(200)
    await dialog.getByLabel('Allowed IP addresses').fill('192.0.2.0/24')
    await dialog.getByLabel('Name').fill('Second Home')
    await dialog.getByLabel('Minutes per month').fill('')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('row').filter({ hasText: 'Second Home' }).waitFor()
    expect(await findOrganisation('Second Home')).toMatchObject({
      ...{ quota: { ...quota, minutes_per_month: null, concurrent_jobs: '3' }, allowed_ips: ['192.0.2.0/24'] },
    })
  }, 90_000)

  test('a system user deactivates an organisation, and activates it again', async () => {
    const row = page.getByRole('row').filter({ hasText: 'Second Home' })
    await row.getByRole('button', { name: 'Deactivate' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click()
    await row.getByText('Inactive').waitFor()
    expect(await findOrganisation('Second Home')).toMatchObject({ status: 'inactive' })
    await row.getByRole('button', { name: 'Activate', exact: true }).click()
    await row.getByRole('button', { name: 'Open: Second Home' }).click()
    await page.getByText('There are no videos yet').waitFor()
    expect(await findOrganisation('Second Home')).toMatchObject({ status: 'active' })
  }, 60_000)

  test('a system user sees why jobs fail, retries and cancels them', async () => {
    const missing = await upload(api, tenant.organisationId, `${sources.url}/later.mp4`)
    await waitUntilSettled(api, missing.id)
    sources.setHandler('/endless.mp4', (_request, response) => {
      response.writeHead(200, { 'content-type': 'video/mp4' })
      response.write(Buffer.alloc(1_024))
    })
    const endless = await upload(api, tenant.organisationId, `${sources.url}/endless.mp4`)
    await page.getByRole('link', { name: 'System' }).click()
    await page.getByRole('link', { name: 'Jobs' }).click()
    const row = (job: string) => page.getByRole('row').filter({ hasText: new RegExp(`Job ${job} of video `) })
    await row(missing.job_id).getByText('(4001)').waitFor()
    await row(endless.job_id).getByRole('button', { name: 'Stop' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click()
    await row(endless.job_id).getByText('Stopped').waitFor()
    expect((await api.get<{ state: string }>(`/job/${endless.job_id}`)).body.state).toBe('cancelled')

    await page.getByRole('combobox', { name: 'State' }).click()
    await page.getByRole('option', { name: 'Failed' }).click()
    await row(endless.job_id).waitFor({ state: 'detached' })
    await row(missing.job_id).getByRole('button', { name: 'Encode again' }).click()
    await page.getByText('The video is being encoded again.').waitFor()
    const { jobs } = (await platform.system.get<{ jobs: { job_id: string }[] }>(`/job?organisation_id=${tenant.organisationId}`)).body
    expect(Number(jobs[0]?.job_id)).toBeGreaterThan(Number(endless.job_id))
    await waitUntilSettled(api, missing.id)
  }, 120_000)

  test('a system user sees the state of the services, and the changes of all organisations', async () => {
    await page.getByRole('link', { name: 'Services' }).click()
    await page.getByText('All services are available').waitFor()
    await page.getByRole('heading', { name: 'catalogue' }).waitFor()
    await page.getByRole('navigation', { name: 'System' }).getByRole('link', { name: 'History' }).click()
    const rows = page.getByRole('row')
    await rows.filter({ hasText: 'organisation::put' }).first().waitFor()
    await page.getByLabel('Action').fill('video::post')
    await rows.filter({ hasText: 'organisation::put' }).first().waitFor({ state: 'detached' })
    await rows.filter({ hasText: '/video/upload' }).first().waitFor()
    await page.getByRole('combobox', { name: 'Organisation' }).last().click()
    await page.getByRole('option', { name: 'Second Home' }).last().click()
    await rows.filter({ hasText: '/video/upload' }).first().waitFor({ state: 'detached' })
  }, 60_000)

  test('a system user sees which workers are connected, what they do, and what waits', async () => {
    await enter('system', 'system/workers')
    await findFigure(page, 'Connected workers').getByText('1', { exact: true }).waitFor()
    await page.getByText('Connected', { exact: true }).first().waitFor()
    sources.setHandler('/slow.mp4', (_request, response) => {
      response.writeHead(200, { 'content-type': 'video/mp4' })
      response.write(Buffer.alloc(1_024))
    })
    const { job_id } = await upload(api, tenant.organisationId, `${sources.url}/slow.mp4`)
    const section = (heading: string) => page.locator('section').filter({ has: page.getByRole('heading', { name: heading, exact: true }) })
    await section('Queue')
      .getByRole('row', { name: /^Download of a source 0 1 –$/ })
      .waitFor()
    await section('Queue by organisation')
      .getByRole('row', { name: /Download of a source 0 1 –$/ })
      .waitFor()
    await api.delete(`/job/${job_id}`)
    await section('Queue')
      .getByRole('row', { name: /Download of a source/ })
      .waitFor({ state: 'detached' })
    const long = await upload(api, tenant.organisationId, `${sources.url}/long.mp4`, { name: 'Long film' })
    await section('Workers and their tasks')
      .getByRole('link', { name: /of job \d+/ })
      .first()
      .click()
    await page.getByRole('heading', { name: 'Long film' }).waitFor()
    await api.delete(`/job/${long.job_id}`)
  }, 120_000)

  test('the list of workers has long names, tasks without a video, and lost workers', async () => {
    await checkWorkersPage({ page, url: platform.url, organisationId: tenant.organisationId })
  }, 120_000)

  test('a system user sees what each organisation stores, and changes the quota of a full one', async () => {
    await enter('system', 'system')
    await checkStoragePage({ page, url: platform.url, system: platform.system, organisationId: tenant.organisationId })
  }, 90_000)

  test('a system user sees the failovers of the database, and which of them are repaired', async () => {
    await checkFailoversPage({ page, url: platform.url })
  }, 60_000)

  test('a failed readiness check names the service', async () => {
    const problem = { detail: 'not ready', errors: [{ field: 'encoding', message: 'is not serving' }] }
    await page.route('**/readyz', (route) => route.fulfill({ status: 503, json: problem }))
    await page.goto(`${platform.url}/console/system/health`)
    await page.getByText('1 service is not available').waitFor()
    await page.getByText('is not serving').waitFor()
    await checkState(page, 'system-health-failed')
    await page.unroute('**/readyz')
  }, 60_000)

  test.each([...SYSTEM_PAGES, 'organisation'])(
    'the page %s passes axe and fits into a telephone, in English and German',
    async (path) => {
      await page.goto(`${platform.url}/console/${path}`)
      await settle(page)
      await checkState(page, path.replace('/', '-'))
      await expectNoSidewaysScroll(page)
      await page.evaluate(`localStorage.setItem('vitascope-language', 'de')`)
      await page.reload()
      await settle(page)
      await page.getByText('Organisation', { exact: true }).first().waitFor()
      await expectNoSidewaysScroll(page)
      await page.evaluate(`localStorage.removeItem('vitascope-language')`)
    },
    60_000,
  )

  test('the dialog of an organisation passes axe', async () => {
    await page.goto(`${platform.url}/console/system/organisations`)
    await page.getByRole('button', { name: 'Create an organisation' }).click()
    await page.getByRole('dialog').getByLabel('Name').waitFor()
    await checkState(page, 'system-organisation-dialog')
  }, 60_000)

  test('an uploader sees before an upload that it does not fit into the quota', async () => {
    await setQuota({ bytes: 1_000, minutes_per_month: 100, concurrent_jobs: 4 })
    await enter('uploader', 'videos')
    const before = (await listAllVideos(api)).length
    await page.getByRole('button', { name: 'Upload videos' }).first().click()
    await page.getByText('1 kB of storage are left').waitFor()
    await checkState(page, 'upload-quota')
    await page.locator('input[type=file]').setInputFiles(join(folder, 'small.mp4'))
    await page.getByText(/small\.mp4 was not uploaded: it has [\d.]+ (k|M)?B, and 1 kB are left\./).waitFor()
    expect(await page.getByRole('region', { name: 'Uploads' }).count()).toBe(0)
    expect(await listAllVideos(api)).toHaveLength(before)

    await setQuota({ minutes_per_month: 0 })
    await page.getByRole('button', { name: 'Upload videos' }).first().click()
    await page.getByRole('dialog').getByText('Your organisation has used its minutes of this month.', { exact: false }).waitFor()
    await page.keyboard.press('Escape')
  }, 90_000)

  test('an uploader sees why the encoding of a video failed, and encodes it again', async () => {
    const { id } = await upload(api, tenant.organisationId, `${sources.url}/again.mp4`, { name: 'Fetched again' })
    await waitUntilSettled(api, id)
    await page.goto(`${platform.url}/console/videos/${id}`)
    const alert = page.getByRole('alert').filter({ hasText: 'The last encoding job failed' })
    await alert.getByText('Code 4001').waitFor()
    await page.getByText('Encoding failed').waitFor()
    await checkState(page, 'video-failed')
    await expectNoSidewaysScroll(page)
    sources.setHandler('/again.mp4', (_request, response) => response.writeHead(302, { location: `${sources.url}/small.mp4` }).end())
    await alert.getByRole('button', { name: 'Encode again' }).click()
    await alert.waitFor({ state: 'detached' })
    expect((await waitUntilSettled(api, id)).status.status).toBe('ok')
    await page.locator('iframe').waitFor({ timeout: extendTimeout(60_000) })
  }, 150_000)

  test('a super user sees the usage of the organisation', async () => {
    await setQuota({ bytes: 5_000_000_000, minutes_per_month: 100, concurrent_jobs: 4 })
    await enter('standard', 'videos')
    await page.getByRole('link', { name: 'Organisation' }).click()
    await page.getByText(/of 5 GB/).waitFor()
    // The bar of an unused amount has no width.
    await page.getByRole('progressbar', { name: 'Minutes of this month' }).waitFor({ state: 'attached' })
    await checkState(page, 'organisation-with-quota')
  }, 60_000)

  test.each(['standard', 'uploader'] as const)(
    'a user of the type %s neither sees nor reaches the system pages',
    async (user) => {
      await enter(user, 'videos')
      expect(await page.getByRole('link', { name: 'System' }).count()).toBe(0)
      expect(await page.getByRole('link', { name: 'Organisation' }).count()).toBe(user === 'standard' ? 1 : 0)
      const requested: string[] = []
      page.on('request', (request) => requested.push(new URL(request.url()).pathname))
      const managerPages = user === 'uploader' ? ['users', 'webhooks', 'audit', 'organisation'] : []
      for (const path of ['system', 'keys', ...managerPages, ...SYSTEM_PAGES]) {
        await page.goto(`${platform.url}/console/${path}`)
        await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
      }
      page.removeAllListeners('request')
      expect(requested.filter((path) => /^\/v2\/(job|organisation|audit|worker|failover|user\/|apikey|webhook)/.test(path))).toEqual([])
      const status = await page.evaluate(`fetch('/v2/organisation').then(({ status }) => status)`)
      expect(status).toBe(403)
    },
    90_000,
  )

  test('the page of a video selects the organisation of the video, and its lists leave it with the filters', async () => {
    const other = await createTenant(platform.system)
    const { id } = await upload(platform.system, other.organisationId, `${sources.url}/missing.mp4`, { name: 'Elsewhere' })
    await waitUntilSettled(platform.system, id)
    await enter('system', `videos/${id}`)
    // Jobs are read for the selected organisation only.
    await page.getByRole('alert').filter({ hasText: 'The last encoding job failed' }).waitFor()
    await page.getByRole('combobox', { name: 'Organisation' }).click()
    await page.getByRole('option', { name: 'Second Home' }).click()
    await page.getByRole('heading', { name: 'Videos' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/console/videos')
    await page.getByText('There are no videos yet').waitFor()

    await page.goto(`${platform.url}/console/system/audit`)
    await page.getByLabel('Id of the user').fill('ada@example.org')
    await page.getByText('A number, such as 42').waitFor()
    expect(await page.getByRole('row').count()).toBe(0)
  }, 90_000)

  test('a user of an organisation that was deactivated gets the sign-in page, on which another user signs in', async () => {
    const { body } = await platform.system.post<{ organisation_id: string }>('/organisation', { name: 'Third House' })
    const person = { email: 'tom@example.org', name: 'Tom Third', userType: 'uploader', password: PASSWORD }
    await createPerson(platform.system, { ...person, organisationId: body.organisation_id })
    await page.context().clearCookies()
    await page.goto(`${platform.url}/console/videos`)
    await signIn(page, person.email, PASSWORD)
    await page.getByRole('heading', { name: 'Videos' }).waitFor()
    expect((await platform.system.put(`/organisation/${body.organisation_id}`, { status: 'inactive' })).status).toBe(200)
    await waitFor(async () => (await page.evaluate(`fetch('/v2/session').then(({ status }) => status)`)) === 403, {
      describe: 'the rejection of the session',
    })
    await page.reload()
    await signIn(page, person.email, PASSWORD)
    await page.getByRole('alert').filter({ hasText: 'organisation is inactive' }).waitFor()
    await signIn(page, PEOPLE.uploader.email, PASSWORD)
    await page.getByRole('heading', { name: 'Videos' }).waitFor()
  }, 60_000)
})
