import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { LOCK_FILE, lockFolder } from './folder-lock.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backup-lock-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

test('a second backup is rejected while the first one runs, and accepted afterwards', async () => {
  const first = await lockFolder(folder)
  await expect(lockFolder(folder)).rejects.toThrow('another backup is writing into')
  await first.check()
  await first.release()
  const second = await lockFolder(folder)
  await second.release()
  expect(await readdir(folder)).toEqual([])
}, 60_000)

test('of two backups that find the lock of a killed one, one is accepted', async () => {
  await writeFile(join(folder, LOCK_FILE), 'of a killed process')
  const [...results] = await Promise.allSettled([lockFolder(folder), lockFolder(folder)])
  const accepted = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  expect(accepted).toHaveLength(1)
  await accepted[0]?.check()
  await accepted[0]?.release()
  expect(await readdir(folder)).toEqual([])
}, 60_000)

test('a backup that was suspended notices that another one has taken the folder', async () => {
  const suspended = await lockFolder(folder)
  await writeFile(join(folder, LOCK_FILE), 'of another process')
  await expect(suspended.check()).rejects.toThrow('run the backup again')
  await suspended.release()
  expect(await readdir(folder)).toEqual([LOCK_FILE])
})
