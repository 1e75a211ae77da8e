import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { openPostgres } from '@vitascope/postgres'
import { createTestDatabase, type TestDatabase, testLog, waitFor } from '@vitascope/testing'

const MIGRATE = fileURLToPath(new URL('../src/migrate.ts', import.meta.url))
/** Roles are shared by all databases of the server, so each run has its own. */
const ROLE = `late_${randomBytes(6).toString('hex')}`

const NONE = fileURLToPath(new URL('.', import.meta.url))

let fresh: TestDatabase
beforeAll(async () => {
  // A folder without migrations: the schema belongs to no service.
  fresh = await createTestDatabase({ migrations: NONE, schema: 'nobody' })
})
afterAll(async () => {
  await fresh?.drop()
})

function migrate(url: string, ...args: string[]) {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MIGRATE, ...args], {
    env: { PATH: process.env['PATH'] ?? '', VITASCOPE_COLLABORATION_DATABASE_URL: url },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', (data: Buffer) => (output += data))
  return { output: () => output, code: once(child, 'exit').then(([code]) => code as number | null) }
}

test('two concurrent migrations wait until the database accepts their role, and both succeed', async () => {
  const admin = openPostgres({ url: fresh.url, schema: 'public', log: testLog })
  const url = new URL(fresh.url)
  url.username = ROLE
  const withoutWait = migrate(url.href)
  expect(await withoutWait.code).toBe(1)
  const both = [migrate(url.href, '--wait'), migrate(url.href, '--wait')]
  await waitFor(() => both.every(({ output }) => output().includes('waiting for the database')))
  await admin.query(`create role ${ROLE} login superuser`)
  expect(await Promise.all(both.map(({ code }) => code))).toEqual([0, 0])
  expect(
    await admin.query('select count(*)::int > 0 as has_entries from information_schema.tables where table_schema = $1', ['collaboration']),
  ).toEqual([{ has_entries: true }])
  expect(await migrate(url.href, '--wait').code).toBe(0)
  await admin.query(`reassign owned by ${ROLE} to current_user`)
  await admin.query(`drop role ${ROLE}`)
  await admin.close()
}, 60_000)

test('invalid settings and arguments are reported in one line', async () => {
  const typo = migrate(fresh.url, '--wiat')
  expect([await typo.code, typo.output()]).toEqual([1, expect.stringContaining('--wiat')])
  const invalid = migrate('mysql://db', '--wait')
  expect([await invalid.code, invalid.output()]).toEqual([1, expect.stringContaining('VITASCOPE_COLLABORATION_DATABASE_URL must be')])
}, 60_000)
