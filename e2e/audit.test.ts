import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { isAlive, waitFor } from '@vitascope/testing'
import { asSuperuser } from './support/database.ts'
import { kill } from './support/nemesis.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, type Tenant } from './support/video-steps.ts'

let platform: TestPlatform
let tenant: Tenant

beforeAll(async () => {
  platform = await startTestPlatform()
  tenant = await createTenant(platform.system)
}, 120_000)
afterAll(() => platform?.remove())

const ready = () =>
  waitFor(async () => (await fetch(`${platform.url}/readyz`).catch(() => undefined))?.ok ?? false, {
    timeout: 60_000,
    describe: 'the platform to be ready',
  })

/** Counts the folders of the tenant, the audit entries of `POST /folder`, and those of them without an outcome. */
const counts = () =>
  asSuperuser(platform, async (client) => {
    const { rows } = await client.query<{ folders: string; entries: string; unknown: string }>(
      `select (select count(*) from catalogue.folder where organisation_id = $1) as folders,
         (select count(*) from auth.audit_entry where organisation_id = $1 and action = 'folder::post') as entries,
         (select count(*) from auth.audit_entry e where organisation_id = $1 and action = 'folder::post'
            and not exists (select from auth.audit_outcome o where o.entry_id = e.entry_id)) as unknown`,
      [tenant.organisationId],
    )
    const [row] = rows
    return { folders: Number(row?.folders), entries: Number(row?.entries), unknown: Number(row?.unknown) }
  })

/** Returns the folders without an audit entry. The name of a folder is the id of the request that creates it. */
const withoutEntry = () =>
  asSuperuser(platform, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `select name from catalogue.folder f where organisation_id = $1
         and not exists (select from auth.audit_entry e where e.organisation_id = f.organisation_id and e.request_id = f.name)`,
      [tenant.organisationId],
    )
    return rows.map(({ name }) => name)
  })

test('a lease of an empty queue is not logged, and a revoked key is logged by its prefix', async () => {
  const api = platform.system
  for (let polls = 0; polls < 3; polls++) expect((await api.get('/queue-job')).body).toBeNull()
  expect((await api.post('/queue-job', { job_name: 'one', priority: 1 })).status).toBe(200)
  expect((await api.get('/queue-job')).body).not.toBeNull()
  const { key } = await createTenant(api)
  expect((await api.delete(`/apikey/${key}`)).status).toBe(200)
  const listObjects = async (action: string) => {
    const { body } = await api.get<{ entries: { object: string }[] }>(`/audit?action=${action}&limit=100`)
    return body.entries.map(({ object }) => object)
  }
  // Outcomes are written after the responses.
  await waitFor(async () => (await listObjects('queue-job::get')).join() === '/queue-job', {
    timeout: 20_000,
    describe: 'the entries of the queue',
  })
  expect(await listObjects('apikey::delete')).toEqual([`/apikey/${key.slice(0, 8)}`])
}, 60_000)

test.each(['gateway', 'auth', 'catalogue'])(
  'killing %s during writes leaves no write without its entry',
  async (victim) => {
    await ready()
    const api = platform.withKey(tenant.key)
    let sent = 0
    let done = 0
    let stopped = false
    const writer = async () => {
      while (!stopped) {
        const name = `${victim}-${++sent}`
        const result = await api
          .post('/folder', { organisation_id: tenant.organisationId, name }, { 'x-request-id': name })
          .catch(() => undefined)
        if (result?.status === 200) done++
      }
    }
    const writers = Array.from({ length: 16 }, writer)
    for (let kills = 0; kills < 3; kills++) {
      const goal = done + 40
      await waitFor(() => done >= goal, { timeout: 60_000, describe: '40 more writes to succeed' })
      const pid = platform.pid(victim) ?? 0
      expect(kill(platform, victim)).toBe(true)
      await waitFor(() => !isAlive(pid), { timeout: 10_000 })
      await ready()
    }
    stopped = true
    await Promise.all(writers)
    expect(await withoutEntry()).toEqual([])
    const { folders, entries, unknown } = await counts()
    process.stderr.write(
      `${victim}: ${sent} sent, ${done} acknowledged, ${folders} folders in all, ${entries} entries, ${unknown} without an outcome\n`,
    )
    expect(folders).toBeGreaterThanOrEqual(done)
    expect(entries).toBeGreaterThanOrEqual(folders)
  },
  240_000,
)

test('the log lists every acknowledged write, and writes without an outcome', async () => {
  await ready()
  interface Page {
    entries: { request_id: string }[]
    next: string | null
  }
  const auditedIds = new Set<string>()
  for (let next: string | null = ''; next !== null; ) {
    const cursor: string = next === '' ? '' : `&cursor=${next}`
    const { body }: { body: Page } = await platform.withKey(tenant.key).get<Page>(`/audit?action=folder::post&limit=1000${cursor}`)
    for (const { request_id } of body.entries) auditedIds.add(request_id)
    next = body.next
  }
  const names = await asSuperuser(platform, async (client) => {
    const { rows } = await client.query<{ name: string }>('select name from catalogue.folder where organisation_id = $1', [
      tenant.organisationId,
    ])
    return rows.map(({ name }) => name)
  })
  // Three runs with three kills each, and 40 writes before each kill.
  expect(names.length).toBeGreaterThanOrEqual(3 * 3 * 40)
  expect(names.filter((name) => !auditedIds.has(name))).toEqual([])
})
