import { expect } from '@jest/globals'
import type { Page } from 'playwright-core'
import type { Api } from './api.ts'
import { expectNoSidewaysScroll, readScriptBytes } from './console-page.ts'
import { checkState } from './page-state.ts'

/** Maximum compressed size of the scripts of a page of the console. */
export const MAX_SCRIPT_BYTES = 252 * 1024

export interface Organisation extends Record<string, unknown> {
  organisation_id: string
  name: string
  status: string
  quota: Record<string, string | null>
}

export interface OpenSystem {
  /** The browser's page, with the session of a system user. */
  page: Page
  /** URL of the platform. */
  url: string
  /** Client with the system key. */
  system: Api
  organisationId: string
}

/** Returns the box of a figure. */
export const findFigure = (page: Page, name: string) =>
  page.locator('.mantine-Paper-root').filter({ has: page.getByText(name, { exact: true }) })

/** Checks the page of workers with responses of this test: many, none, and failures. */
export async function checkWorkersPage({ page, url, organisationId }: Omit<OpenSystem, 'system'>): Promise<void> {
  const task = { organisation_id: organisationId, job_id: '44', video_id: '42', chunk: 3, progress: 57, running_seconds: 12 }
  const worker = { connected: true, connected_seconds: 200_000, heartbeat_age_seconds: 4, tasks: [] as object[] }
  const workers = [
    {
      ...worker,
      name: 'worker-1',
      tasks: [
        { ...task, kind: 'encode' },
        { ...task, kind: 'audio', chunk: 12, progress: 0 },
      ],
    },
    { ...worker, name: 'worker-2', tasks: [{ ...task, kind: 'slides', video_id: '', chunk: null, progress: null }] },
    { ...worker, name: `${'vitascope-encode-a-very-long-name-'.repeat(3)}0`, connected: false, heartbeat_age_seconds: 300 },
    { ...worker, name: 'worker-4', tasks: [{ ...task, kind: 'later-kind', running_seconds: null }] },
  ]
  const count = { kind: 'encode', waiting: 1_200, running: 3, waiting_seconds: 754 }
  const kinds = [count, { kind: 'later-kind', waiting: 0, running: 1, waiting_seconds: 0 }]
  await page.route(/\/v2\/worker\?/, (route) => route.fulfill({ json: workers }))
  await page.route('**/v2/worker/queue', (route) =>
    route.fulfill({ json: { kinds, organisations: [{ organisation_id: organisationId, ...count }] } }),
  )
  await page.goto(`${url}/console/system/workers`)
  const row = (name: string) => page.getByRole('listitem').filter({ has: page.getByRole('heading', { name }) })
  await row('worker-1').getByText('Encode chunk 4').waitFor()
  expect(await readScriptBytes(page)).toBeLessThanOrEqual(MAX_SCRIPT_BYTES)
  await row('worker-1')
    .getByText(/^57 % · 12 sec · /)
    .waitFor()
  await row('worker-1').getByText('Heartbeat 4 sec ago · started 2 days ago').waitFor()
  await row('worker-2').getByText('of job 44').waitFor()
  expect(await row('worker-2').getByRole('link').count()).toBe(0)
  await row('a-very-long-name').getByText('Heartbeat 5 min ago').waitFor()
  await page.getByRole('row', { name: /^later-kind 0 1 –$/ }).waitFor()
  await page.getByRole('row', { name: /^Encode 1,200 3 12 min$/ }).waitFor()
  await checkState(page, 'system-workers-many')
  await expectNoSidewaysScroll(page)

  // The figures of the last successful check stay.
  const problem = { type: 'about:blank', title: 'Internal error', status: 500, code: 'internal', detail: 'a fault of this test' }
  await page.route(/\/v2\/worker/, (route) => route.fulfill({ status: 500, json: { ...problem, request_id: 'r' } }))
  await page.getByText('What this page shows is not up to date').first().waitFor()
  await row('worker-1').getByText('Encode chunk 4').waitFor()
  await page.reload()
  await page.getByText('a fault of this test').first().waitFor()
  await checkState(page, 'system-workers-failed')
  await page.unroute(/\/v2\/worker/)
  await page.route(/\/v2\/worker\?/, (route) => route.fulfill({ json: [] }))
  await page.route('**/v2/worker/queue', (route) => route.fulfill({ json: { kinds: [], organisations: [] } }))
  await page.getByRole('button', { name: 'Try again' }).first().click()
  await page.getByText('No worker is connected').waitFor()
  await page.getByText('No task waits or runs').waitFor()
  await checkState(page, 'system-workers-empty')
  await page.unrouteAll()
}

/** Checks the page of stored bytes with responses of this test, and then changes the quota of the real organisation. */
export async function checkStoragePage({ page, url, system, organisationId }: OpenSystem): Promise<void> {
  const { body } = await system.get<Organisation>(`/organisation/${organisationId}`)
  const organisations = Array.from({ length: 60 }, (_, index) => ({
    ...{ ...body, organisation_id: index === 0 ? organisationId : `9${index}` },
    name: index === 1 ? `${'a very long name of an organisation '.repeat(5)}` : `House ${index}`,
  }))
  const readUsage = (id: string) => {
    const index = organisations.findIndex((organisation) => organisation.organisation_id === id)
    const quota = { bytes: index % 3 === 0 ? '1000000000' : null, minutes_per_month: null, concurrent_jobs: null }
    const usage = { bytes: String((60 - index) * 16_000_000), bytes_reserved: index === 0 ? '30000000' : '0' }
    return { ...organisations[index], quota, usage: { ...usage, minutes_this_month: '0', minutes_reserved: '0', jobs: '0' } }
  }
  await page.route(/\/v2\/organisation\?/, (route) => route.fulfill({ json: organisations }))
  await page.route('**/v2/organisation/*/usage', (route) =>
    route.fulfill({ json: readUsage(route.request().url().split('/').at(-2) ?? '') }),
  )
  await page.goto(`${url}/console/system/storage`)
  const figure = (name: string) => findFigure(page, name)
  await figure('Stored').getByText('29.3 GB').waitFor()
  await figure('Stored').getByText('by 60 organisations').waitFor()
  await figure('Reserved').getByText('30 MB').waitFor()
  await figure('Sum of quotas').getByText('20 GB').waitFor()
  await figure('Sum of quotas').getByText('40 without a limit').waitFor()
  await figure('Nearly full').getByText('2', { exact: true }).waitFor()
  expect(await readScriptBytes(page)).toBeLessThanOrEqual(MAX_SCRIPT_BYTES)
  const rows = page.getByRole('row')
  const first = rows.nth(1)
  await first.getByText('House 0').waitFor()
  await first.getByText('990 MB of 1 GB').waitFor()
  await first.getByText('3.3%').waitFor()
  await checkState(page, 'system-storage-many')
  await expectNoSidewaysScroll(page)
  await page.getByRole('button', { name: 'Page 3' }).click()
  await rows.filter({ hasText: 'House 59' }).waitFor()
  expect(await rows.count()).toBe(11)
  await page.getByLabel('Name or id').fill('house 3')
  await rows.filter({ hasText: 'House 39' }).waitFor()
  expect(await rows.count()).toBe(12)
  await page.getByRole('combobox', { name: 'Order' }).click()
  await page.getByRole('option', { name: 'Fullest quota' }).click()
  await first.getByText('Id 93').waitFor()
  await page.getByLabel('Name or id').fill('nothing')
  await page.getByText('There is no such organisation').waitFor()

  // The figures of the last successful reading stay.
  const problem = { type: 'about:blank', title: 'Internal error', status: 500, code: 'internal', detail: 'a fault of this test' }
  await page.route('**/v2/organisation/93/usage', (route) => route.fulfill({ status: 500, json: { ...problem, request_id: 'r' } }))
  await page.getByRole('button', { name: 'Refresh' }).click()
  await page.getByText('What this page shows is not up to date').waitFor()
  await figure('Stored').getByText('29.3 GB').waitFor()
  await page.unrouteAll()

  expect((await system.put(`/organisation/${organisationId}`, { quota: { bytes: 1_000 } })).status).toBe(200)
  await page.getByRole('button', { name: 'Refresh' }).click()
  await page.getByText('What this page shows is not up to date').waitFor({ state: 'detached' })
  await page.getByLabel('Name or id').fill(organisationId)
  await first.getByText('of 1 kB').waitFor()
  await first.getByRole('button', { name: /^Edit: / }).click()
  await page.getByRole('dialog').getByLabel('Storage in GB').fill('7')
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await first.getByText('of 7 GB').waitFor()
  const { body: changed } = await system.get<Organisation>(`/organisation/${organisationId}`)
  expect(changed.quota['bytes']).toBe('7000000000')
}

/** Checks the page of failovers: without one, and with responses of this test. */
export async function checkFailoversPage({ page, url }: Pick<OpenSystem, 'page' | 'url'>): Promise<void> {
  await page.goto(`${url}/console/system/failovers`)
  await page.getByText('No failover was detected').waitFor()
  const failover = { failover_id: '2', cause: 'new_timeline', time_detected: '2026-05-04 10:00:02', time_repaired: '' }
  const row = (service: string, fields: object = {}) => ({ service, available: true, has_repair: false, failovers: [failover], ...fields })
  const services = [
    row('auth'),
    row('catalogue', {
      has_repair: true,
      failovers: [{ ...failover, time_detected: '2026-05-04 10:00:05', time_repaired: '2026-05-04 10:00:17' }],
    }),
    row('encoding', {
      has_repair: true,
      failovers: [failover, { ...failover, failover_id: '1', cause: 'later-cause', time_detected: '2026-04-01 08:00:00' }],
    }),
    row('analytics', { available: false, failovers: [] }),
  ]
  await page.route(/\/v2\/failover/, (route) => route.fulfill({ json: { services } }))
  await page.reload()
  await page.getByText('These services do not respond, so their failovers are not listed: analytics').waitFor()
  expect(await readScriptBytes(page)).toBeLessThanOrEqual(MAX_SCRIPT_BYTES)
  const rows = page.getByRole('row')
  await rows.nth(1).getByText('catalogue').waitFor()
  await rows.nth(1).getByText('Repaired after 12 sec').waitFor()
  await rows.filter({ hasText: 'auth' }).getByText('Nothing to repair').waitFor()
  await rows.filter({ hasText: 'encoding' }).first().getByText('Repair runs').waitFor()
  await rows.nth(4).getByText('later-cause').waitFor()
  await checkState(page, 'system-failovers-many')
  await expectNoSidewaysScroll(page)
  await page.unrouteAll()
}
