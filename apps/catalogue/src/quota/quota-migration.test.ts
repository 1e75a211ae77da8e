import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Db, migrate, openPostgres } from '@vitascope/postgres'
import { type FreshDatabase, freshDatabase, testLog } from '@vitascope/testing'
import { readUsage } from './reserve.ts'
import { createUsageCheck } from './usage-check.ts'

const migrations = join(import.meta.dirname, '../../migrations')
let before: string
let database: FreshDatabase
let db: Db
beforeAll(async () => {
  before = await mkdtemp(join(tmpdir(), 'migrations-'))
  for (const name of await readdir(migrations)) if (name < '0096') await cp(join(migrations, name), join(before, name))
  database = await freshDatabase({ migrations: before, schema: 'catalogue' })
  db = openPostgres({ url: database.url, schema: 'catalogue', log: testLog })
})
afterAll(async () => {
  await db?.close()
  await database?.drop()
  await rm(before, { recursive: true, force: true })
})

test('what is there already is counted, in the month in which it was accepted', async () => {
  await db.query('insert into organisation (organisation_id, revision, active) values (1, 1, true), (2, 1, true)')
  await db.query(
    `insert into job (job_id, video_id, media_id, organisation_id, action, state, progress, source_url, notify, user_id, create_time)
     overriding system value
     values (1, 1, 1, 1, 'new_video', 'ok', 100, '', true, '7', '2026-01-31T23:59:59.9Z'), (2, 1, 2, 1, 'new_video', 'queued', 5, '', true, '7', now())`,
  )
  await db.query(
    `insert into media (media_id, organisation_id, title, original_filename, state, progress, code, renditions, set_job_id)
     values (1, 1, 'a', 'a', 'ok', 100, 2000, '{"bytes": 5000, "durationSeconds": 12.48}', 1), (2, 1, 'b', 'b', 'encoding', 5, 2, null, null)`,
  )
  await db.query(`insert into presentation (presentation_id, organisation_id, user_id, title, description) values (1, 1, '7', 'p', '')`)
  await db.query(
    `insert into slide_set (job_id, presentation_id, prefix, slides, document_path, bytes) values (3, 1, 's', '[]', 'a.pdf', 70)`,
  )
  await migrate({ url: database.url, schema: 'catalogue', folder: migrations, log: testLog })
  expect(await readUsage(db.query, '1', { month: '2026-01-01' })).toEqual({
    bytes: 5_070,
    reservedBytes: 0,
    ms: 12_480,
    reservedMs: 0,
    jobs: 1,
  })
  expect(await readUsage(db.query, '2')).toMatchObject({ bytes: 0, jobs: 0 })
  expect(await createUsageCheck(db, testLog).differences('1')).toEqual([])
  // Triggers that were out of the way are there again.
  await db.query('delete from media where media_id = 1')
  expect(await readUsage(db.query, '1')).toMatchObject({ bytes: 70 })
})
