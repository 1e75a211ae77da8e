import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { failedStart } from './failed-start.ts'
import { startProgram, stopProgram } from './program.ts'

let parentFolder: string
let folder: string
let logFolder: string

beforeAll(() => {
  parentFolder = mkdtempSync(join(tmpdir(), 'vitascope-failed-start-'))
  folder = join(parentFolder, 'cluster')
  logFolder = join(parentFolder, 'kept')
})
afterAll(async () => {
  await stopProgram(folder, 'etcd')
  rmSync(parentFolder, { recursive: true, force: true })
})

test('the logs of a cluster that fails to start are kept, and the error names their folder and the exited programs', async () => {
  mkdirSync(join(logFolder, 'log'), { recursive: true })
  writeFileSync(join(logFolder, 'log/older.log'), 'log of an earlier start')
  startProgram(folder, { name: 'etcd', command: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'] })
  writeFileSync(join(folder, 'log/kubelet.log'), 'no cgroup')
  writeFileSync(join(folder, 'pid/kubelet'), '999999999 1')
  const end = async () => {
    await stopProgram(folder, 'etcd')
    rmSync(folder, { recursive: true })
  }
  const cause = new Error('the node is not ready')
  const failure = await failedStart(folder, cause, end, logFolder)
  expect(failure.message).toBe(`the cluster did not start: the node is not ready; exited programs: kubelet; its logs are in ${logFolder}`)
  expect(failure.cause).toBe(cause)
  expect(readFileSync(join(logFolder, 'log/kubelet.log'), 'utf8')).toBe('no cgroup')
  expect([existsSync(join(logFolder, 'log/older.log')), existsSync(folder)]).toEqual([false, false])
})

test('the error of a failed start also reports a failed cleanup', async () => {
  const failure = await failedStart(join(parentFolder, 'nothing'), new Error('no port'), () => Promise.reject(new Error('busy')), logFolder)
  expect(failure.message).toBe('the cluster did not start: no port; there are no logs; and the cleanup failed: Error: busy')
})
