import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import { duePrefixes, markPrefixSwept, sweepSoon } from '../src/objects/object-prefix.ts'
import { isSweepPaused } from '../src/objects/sweep-hold.ts'
import { startInProcess, startTestEnvironment, type TestEnvironment } from './service-under-test.ts'

const COMMAND = join(import.meta.dirname, '../src/objects/sweep.ts')
const TUS = '0b0e7a52-5a1d-4bb0-9a8a-1a1b1c1d1e1f'

let environment: TestEnvironment
beforeAll(async () => {
  environment = await startTestEnvironment()
})
afterAll(() => environment.close())

/** Creates objects of every kind, with and without rows. All but one are a week old. */
beforeEach(async () => {
  await environment.db.query('truncate job, object_prefix, upload, tus_upload, sweep_hold cascade')
  for (const area of ['media', 'slides', 'source', 'work', 'uploads', 'tus', 'other']) await environment.storage.deletePrefix(area)
  await environment.db.query(
    `insert into job (job_id, media_id, organisation_id, source_url, state, finish_time)
     values (1, '7', '1', '', 'ok', now()), (2, '8', '1', '', 'ok', now())`,
  )
  await environment.db.query(
    `insert into object_prefix (prefix, job_id, fence) values ('media/7/1-5-abc', 1, 5), ('media/8/2-6-abc', 2, 6), ('work/1/5-abc', 1, 5)`,
  )
  await environment.db.query(
    `insert into upload (organisation_id, object, bytes, expire_time) values ('1', 'uploads/1/kept', 3, now() + interval '1 day'),
       ('1', 'uploads/1/gone', 3, now() + interval '1 day')`,
  )
  const lastWeek = new Date(Date.now() - 7 * 86_400_000)
  for (const name of [
    ...['media/7/1-5-abc/a.mp4', 'media/7/1-5-abc/hls/b.m4s', 'uploads/1/kept'],
    ...['media/7/1-4-abc/a.mp4', 'media/7/1-4-abc/b.mp4', 'work/9/3-abc/c', 'uploads/1/lost', `tus/${TUS}/1-0`],
    ...['media/odd', 'other/thing'],
  ]) {
    await environment.storage.put(name, Buffer.from(name))
    await utimes(join(environment.folder, 'storage', name), lastWeek, lastWeek)
  }
  await environment.storage.put('work/9/4-abc/young', Buffer.from('young'))
})

const sweep = async (...options: string[]) => {
  const env = {
    ...process.env,
    VITASCOPE_ENCODING_DATABASE_URL: environment.databaseUrl,
    VITASCOPE_STORAGE_DIR: join(environment.folder, 'storage'),
  }
  const args = ['--disable-warning=ExperimentalWarning', COMMAND, ...options]
  return promisify(execFile)(process.execPath, args, { env }).catch((error: { code: number; stdout: string; stderr: string }) => error)
}
const orphans = ['media/7/1-4-abc/', `tus/${TUS}/`, 'uploads/1/lost', 'work/9/3-abc/']
const missing = ['media/8/2-6-abc/', 'uploads/1/gone']

test('a dry run reports what would be removed and what is missing, and changes nothing', async () => {
  const before = await environment.objects()
  const { stdout } = await sweep('--dry-run')
  const lines = stdout.trim().split('\n')
  expect(lines.filter((line) => line.startsWith('would be removed')).map((line) => line.split(/\s+/)[3])).toEqual(
    orphans.map((name) => `${name}:`),
  )
  expect(lines.filter((line) => line.startsWith('missing')).map((line) => line.split(/\s+/)[1])).toEqual(missing.map((name) => `${name}:`))
  expect(stdout).toMatch(/10 objects of \d+ bytes were scanned; 1 of them/)
  expect(stdout).toMatch(/Objects without a row: 4 names with 5 objects of \d+ bytes; nothing was changed; 1 more are too recent\./)
  expect(lines.at(-1)).toBe('Rows without their objects: 2.')
  expect(await environment.objects()).toEqual(before)
  expect(await environment.db.query('select from object_prefix where drop_time is not null')).toEqual([])
})

test('the JSON output of a dry run has the same content', async () => {
  const { stdout } = await sweep('--dry-run', '--json')
  const output = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(output.flatMap((line) => (line.kind === 'orphan' ? [line.orphan.name] : []))).toEqual(orphans)
  expect(output.flatMap((line) => (line.kind === 'missing' ? [line.name] : []))).toEqual(missing)
  expect(output.at(-1).summary).toMatchObject({ objects: 10, foreign: 1, tooRecent: 1, orphans: 4, orphanObjects: 5, missing: 2 })
})

test('files without a row are removed, and files with a row or a foreign name stay', async () => {
  expect((await sweep()).stdout).toMatch(/dropped {10}media\/7\/1-4-abc\//)
  const service = await startInProcess(environment)
  try {
    const expected = [
      'media/7/1-5-abc/a.mp4',
      'media/7/1-5-abc/hls/b.m4s',
      'media/odd',
      'other/thing',
      'uploads/1/kept',
      'work/9/4-abc/young',
    ]
    await waitFor(async () => (await environment.objects()).length <= expected.length, {
      timeout: 20_000,
      describe: 'the orphans to be removed',
    })
    expect(await environment.objects()).toEqual(expected)
  } finally {
    await service.stop()
  }
  expect((await sweep('--json', '--dry-run')).stdout).toContain('"orphans":0')
})

test('no object is removed while a backup holds the sweep', async () => {
  const holder = randomUUID()
  await environment.db.query(`insert into sweep_hold values ($1, now() + interval '1 hour')`, [holder])
  expect(await isSweepPaused(environment.db.query)).toBe(true)
  const paused = await sweep()
  expect([paused, paused.stderr]).toMatchObject([{ code: 1 }, expect.stringContaining('a backup is copying objects')])
  await environment.db.query('update object_prefix set drop_time = now(), next_sweep = now()')
  const service = await startInProcess(environment)
  try {
    const before = await environment.objects()
    // Each pass of the reconciler checks the jobs and then sweeps.
    const lastCheck = async () => (await environment.db.query<{ at: string }>('select max(check_time)::text as at from job'))[0]?.at
    for (let passes = 0; passes < 3; passes++) {
      const last = await lastCheck()
      await waitFor(async () => (await lastCheck()) !== last, { timeout: 20_000, describe: 'another pass of the reconciler' })
    }
    expect(await environment.objects()).toEqual(before)
    await environment.db.query('update sweep_hold set end_time = now()')
    await waitFor(async () => !(await environment.objects('media/7/1-5-abc')).length, {
      timeout: 20_000,
      describe: 'the sweep to continue',
    })
  } finally {
    await service.stop()
  }
})

test('a prefix for which sweepSoon was called during its sweep is swept again at once', async () => {
  const { query } = environment.db
  await query(
    `insert into object_prefix (prefix, job_id, fence, drop_time, next_sweep) values ('work/77/9-abc', 77, 9, now(), now() - interval '1 minute')`,
  )
  const findDue = async () => (await duePrefixes(query, 1_000)).find(({ prefix }) => prefix === 'work/77/9-abc')
  const due = await findDue()
  if (!due) throw new Error('the prefix is not due')
  await sweepSoon(query, 9)
  await markPrefixSwept(query, due)
  const again = await findDue()
  expect(again?.dueTime).not.toBe(due.dueTime)
  if (again) await markPrefixSwept(query, again)
  expect(await findDue()).toBeUndefined()
})

test.each([['--what'], ['--older-than', 'yesterday']])('%s prints the usage', async (...options) => {
  expect(await sweep(...options)).toMatchObject({ code: 2, stderr: expect.stringContaining('usage:') })
})
