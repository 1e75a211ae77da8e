import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { type DataFolder, openDataFolder, readPlatformConfig, startDatabase } from '@vitascope/platform'
import { isAlive, waitFor } from '@vitascope/testing'

let path: string
let folder: DataFolder

beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'vitascope-database-'))
  folder = await openDataFolder(readPlatformConfig({ VITASCOPE_DATA_DIR: path }))
})
afterEach(async () => {
  await folder.release()
  await rm(path, { recursive: true, force: true, maxRetries: 5 })
})

/** Of the server that has, or had, the folder last. */
const serverPid = async () => Number((await readFile(join(path, 'postgres/postmaster.pid'), 'utf8')).split('\n', 1)[0])

test('a stop during a restart of PostgreSQL also ends the new process', async () => {
  const database = await startDatabase({ folder, databaseUrl: undefined, services: [], print: { line: () => {}, own: () => {} } })
  const first = await serverPid()
  process.kill(first, 'SIGKILL')
  const second = await waitFor(async () => {
    const pid = await serverPid()
    return pid !== first && isAlive(pid) && pid
  })
  await database.stop()
  expect(isAlive(Number(second))).toBe(false)
}, 30_000)
