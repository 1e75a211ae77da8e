import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import { as, buildEvent, openFixture } from './test-analytics.ts'

let fixture: Awaited<ReturnType<typeof openFixture>>
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture?.close())

/** Makes all new connections read-only by default. A session can still override the setting. */
async function setReadOnly(on: boolean) {
  await fixture.db.transaction(async ({ query }) => {
    await query('set transaction read write')
    const [{ name } = { name: '' }] = await query<{ name: string }>('select current_database() as name')
    await query(`alter database ${name} set default_transaction_read_only = ${on ? 'on' : 'off'}`)
  })
  // The own connection is terminated last.
  const ended = `select pg_terminate_backend(pid) from
    (select pid from pg_stat_activity where datname = current_database() order by pid = pg_backend_pid()) one`
  await expect(fixture.db.query(ended)).rejects.toMatchObject({ kind: 'unavailable' })
  const readDefaultMode = async () =>
    (await fixture.db.query<{ now: string }>(`select current_setting('default_transaction_read_only') as now`))[0]?.now
  await waitFor(async () => (await readDefaultMode()) === (on ? 'on' : 'off'), { timeout: 60_000, describe: 'new connections' })
}

test('while the database is read-only, events are written to disk, and they count when it accepts writes again', async () => {
  const videoId = fixture.catalogue.createVideo()
  await fixture.send([buildEvent({ videoId, viewId: randomUUID() })])
  await setReadOnly(true)
  for (let nth = 0; nth < 3; nth++) {
    expect(await fixture.send([buildEvent({ videoId, viewId: randomUUID() })])).toEqual({ accepted: 1, rejected: [] })
  }
  expect(await fixture.db.query('select 1 from event')).toHaveLength(1)
  await setReadOnly(false)
  const readLoads = async () =>
    (await fixture.reports.getVideo({ organisationId: '', videoId, period: undefined }, as('uploader'))).counts?.playerLoads
  await waitFor(async () => (await readLoads()) === 4, { timeout: 60_000, describe: 'four views' })
  expect((await fixture.reconcile()).differences).toEqual([])
}, 120_000)
