import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, expect, test } from '@jest/globals'
import { openMasterKeys, parseMasterKeys } from './master-keys.ts'

const [one, two] = ['1'.repeat(32), '2'.repeat(40)]
const folder = mkdtempSync(join(tmpdir(), 'vitascope-master-keys-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('a file contains one secret, or a version and a secret in each line', () => {
  expect(parseMasterKeys(`${one}\n`)).toEqual([{ version: 1, secret: one }])
  expect(parseMasterKeys(`2:${two}\n1:${one}\n`)).toEqual([
    { version: 2, secret: two },
    { version: 1, secret: one },
  ])
})

test.each([
  ['', '1 to 8 keys'],
  [`${one}\n${two}`, 'line 1 must be VERSION:SECRET'],
  [`0:${one}`, 'line 1: the version must be 1 to 65535'],
  [`70000:${one}`, 'line 1: the version must be 1 to 65535'],
  ['3:short', 'line 1: the secret must have 32 characters or more'],
  [`1:${one}\n1:${two}`, 'two keys with the same version'],
  [Array.from({ length: 9 }, (_, index) => `${index + 1}:${two}`).join('\n'), '1 to 8 keys'],
])('the file %j is rejected, and the error contains no secret', (text, message) => {
  expect(() => parseMasterKeys(text)).toThrow(message)
  expect(() => parseMasterKeys(text)).not.toThrow(one)
})

test('a file that cannot be read is reported once, and the previous keys stay in use', async () => {
  const file = join(folder, 'moved-key')
  const reports: string[] = []
  writeFileSync(file, one)
  const onProblem = (error: unknown) => reports.push(`${(error as NodeJS.ErrnoException).code}`)
  const keys = openMasterKeys(file, { onProblem, onChange: () => reports.push('in use') }, 5)
  const waitForReports = async (count: number) => {
    await waitUntil(() => reports.length >= count)
    // Later polls report nothing more.
    await delay(50)
  }
  renameSync(file, `${file}.moved`)
  await waitForReports(1)
  expect(reports).toEqual(['ENOENT'])
  expect(keys.current()).toEqual([{ version: 1, secret: one }])
  renameSync(`${file}.moved`, file)
  await waitForReports(2)
  rmSync(file)
  await waitForReports(3)
  expect(reports).toEqual(['ENOENT', 'in use', 'ENOENT'])
  keys.close()
})

test('a changed file is reloaded if it still includes a key in use', async () => {
  const file = join(folder, 'master-key')
  const problems: string[] = []
  writeFileSync(file, one)
  const keys = openMasterKeys(file, { onProblem: (error) => problems.push((error as Error).message) }, 5)
  const versions = () => keys.current().map(({ version }) => version)
  writeFileSync(file, `1:${one}\n2:${two}`)
  await waitUntil(() => versions().join() === '1,2')
  writeFileSync(file, `3:${'3'.repeat(32)}`)
  await waitUntil(() => problems.length === 1)
  expect([problems[0], versions()]).toEqual([expect.stringContaining('contains none of the master keys in use'), [1, 2]])
  writeFileSync(file, `2:${two}`)
  await waitUntil(() => versions().join() === '2')
  keys.close()
})

/** Waits until the condition is true, for 20 s at most. */
async function waitUntil(isDone: () => boolean): Promise<void> {
  for (let tries = 0; !isDone() && tries < 4_000; tries++) await delay(5)
  expect(isDone()).toBe(true)
}
