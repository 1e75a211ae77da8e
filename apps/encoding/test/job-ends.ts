import { expect } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import type { TestEnvironment } from './service-under-test.ts'

interface JobRow {
  job_id: string
  state: string
  attempt: number
}

/**
 * Waits until all jobs have ended. Checks that each has exactly one result: a complete set or a
 * reported failure, with increasing progress. Also checks that storage holds nothing else. Returns
 * the number of jobs per state.
 */
export async function checkEnds(environment: TestEnvironment, jobs: number): Promise<Record<string, number>> {
  const rows = () => environment.db.query<JobRow>('select job_id, state, attempt from job')
  await waitFor(async () => (await rows()).every(({ state }) => state === 'ok' || state === 'failed'), {
    timeout: 120_000,
    interval: 200,
    describe: 'all jobs to end',
  })
  await waitFor(async () => (await environment.db.query('select 1 from outbox')).length === 0, {
    timeout: 20_000,
    describe: 'all reports to be sent',
  })
  const ended = await rows()
  expect(ended).toHaveLength(jobs)
  for (const row of ended) await checkEnd(environment, row)
  await waitFor(async () => (await environment.objects('work')).length === 0, { timeout: 60_000, describe: 'work to be empty' })
  // A source is kept only if its job has published a set.
  const sets = ended.filter(({ state }) => state === 'ok').length
  await waitFor(async () => (await environment.objects('source')).length === sets, {
    timeout: 60_000,
    describe: `${sets} remaining sources`,
  })
  return { ok: sets, failed: jobs - sets }
}

async function checkEnd(environment: TestEnvironment, { job_id: jobId, state, attempt }: JobRow): Promise<void> {
  const published = new Set(environment.catalogue.published(jobId).map((set) => set.prefix))
  expect([jobId, published.size]).toEqual([jobId, state === 'ok' ? 1 : 0])
  expect([jobId, environment.catalogue.failed(jobId).length > 0]).toEqual([jobId, state === 'failed'])
  expect(attempt).toBeLessThanOrEqual(3)
  const progress = environment.catalogue.progress(jobId)
  expect(progress).toEqual([...progress].sort((a, b) => a - b))
  const [prefix] = published
  await waitFor(
    async () => (await environment.objects(`media/9${jobId}`)).every((name) => prefix !== undefined && name.startsWith(`${prefix}/`)),
    { timeout: 60_000, describe: `job ${jobId} to have no other objects` },
  )
  const set = environment.catalogue.published(jobId)[0]
  for (const { path, bytes } of set?.renditions ?? []) expect((await environment.storage.stat(`${prefix}/${path}`))?.bytes).toBe(bytes)
}
