import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { beginRun, finishRun, listBackups, type Manifest } from './backup-folder.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backup-folder-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** Writes a complete backup. Returns the name of its folder. */
async function writeBackup(takenAt: string, keep: number): Promise<string> {
  const run = await beginRun(folder)
  const manifest: Manifest = { format: 1, takenAt, run, schemas: [], objects: { count: 0, bytes: 0 }, missing: [], secrets: [] }
  await finishRun(folder, manifest, keep)
  return run
}
const listRuns = async () => (await listBackups(folder)).map(({ run }) => run)
const listFolders = async () => (await readdir(folder)).filter((name) => name.startsWith('run-')).sort()

test('backups are listed from the newest to the oldest, and the oldest ones are removed', async () => {
  await writeBackup('2026-01-01T00:00:00.000Z', 2)
  const second = await writeBackup('2026-01-02T00:00:00.000Z', 2)
  const third = await writeBackup('2026-01-03T00:00:00.000Z', 2)
  expect(await listRuns()).toEqual([third, second])
  expect(await listFolders()).toEqual([second, third].sort())
})

test.each([1, 2])('the last backup is the newest, although the clock of the database was ahead before: keep %s', async (keep) => {
  const ahead = await writeBackup('2036-01-01T00:00:00.000Z', keep)
  const last = await writeBackup('2026-01-02T00:00:00.000Z', keep)
  const runs = [last, ahead].slice(0, keep)
  expect(await listRuns()).toEqual(runs)
  expect(await listFolders()).toEqual(runs.toSorted())
})
