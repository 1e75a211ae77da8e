import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { READ_ONLY, writeLayer } from './layers.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'vitascope-layers-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const digest = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex')
const list = (file: string) =>
  execFileSync('tar', ['--list', '--verbose', '--numeric-owner', `--file=${file}`], { encoding: 'utf8', env: { TZ: 'UTC' } })

/** Creates a folder with the same content, in another order, with other times and permissions. */
function createContent(name: string, files: readonly string[], mode: number): string {
  const content = join(folder, name)
  mkdirSync(join(content, 'app/empty'), { recursive: true })
  for (const file of files) {
    writeFileSync(join(content, 'app', file), `content of ${file}`)
    chmodSync(join(content, 'app', file), mode)
    utimesSync(join(content, 'app', file), mode, mode)
  }
  symlinkSync('one', join(content, 'app/link'))
  return content
}

test('layers of equal content are equal, whatever the times, permissions and order of the files are', async () => {
  const [first, second] = [join(folder, '1.tar.gz'), join(folder, '2.tar.gz')]
  await writeLayer(createContent('first', ['one', 'two'], 0o644), first, { mode: READ_ONLY })
  await writeLayer(createContent('second', ['two', 'one'], 0o600), second, { mode: READ_ONLY })
  expect(digest(second)).toBe(digest(first))
  writeFileSync(join(folder, 'second/app/one'), 'content of 0ne')
  await writeLayer(join(folder, 'second'), second, { mode: READ_ONLY })
  expect(digest(second)).not.toBe(digest(first))
})

test('entries of a layer have no set-user-ID bit, a numeric owner and no time', async () => {
  const content = createContent('special', ['su'], 0o4711)
  await writeLayer(content, join(folder, 'special.tar.gz'), { owner: 10001, entries: ['app/su'] })
  expect(list(join(folder, 'special.tar.gz'))).toMatch(/^-rwxr-xr-x 10001\/10001 +13 1970-01-01 00:00 app\/su\n$/)
})
