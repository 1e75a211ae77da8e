// Faults: C20
import { appendFile, mkdir, mkdtemp, open as openFile, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { testLog } from '@vitascope/testing'
import { openSpool, type Spool, type SpoolOptions } from './spool.ts'

let folder: string
const opened: Spool[] = []
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'spool-'))
})
afterEach(async () => {
  for (const spool of opened.splice(0)) await spool.close()
  await rm(folder, { recursive: true })
})

async function open(maxBytes = 1_000_000, options: Partial<SpoolOptions> = {}): Promise<Spool> {
  const spool = await openSpool({ folder, maxBytes, log: testLog, ...options })
  opened.push(spool)
  return spool
}
const createBatch = (...texts: string[]) => ({ lines: texts.map((text) => `${text}\n`), days: ['2026-01-31', '2026-02-01'] })
async function drainLines(spool: Spool) {
  const lines: string[] = []
  await spool.drain(async (batch) => {
    expect(batch.days).toEqual(['2026-01-31', '2026-02-01'])
    lines.push(...batch.lines)
  })
  return lines
}

test('returns the stored events in order, also to a new process, and is then empty', async () => {
  const first = await open()
  await Promise.all([first.append(createBatch('a', 'ü\t{}')), first.append(createBatch('b')), first.append(createBatch('c'))])
  const next = await open()
  expect(next.bytes()).toBe(first.bytes())
  await next.append(createBatch('d'))
  expect(await drainLines(next)).toEqual(['a\n', 'ü\t{}\n', 'b\n', 'c\n', 'd\n'])
  expect([next.bytes(), await readdir(folder)]).toEqual([0, []])
})

test.each(['12 345', '6 1 2026-01-31,2026-02-01\nhello\n', '600 1 2026-01-31,2026-02-01\nhe'])(
  'an incomplete group %j at the end of a file loses no event before it or in later files',
  async (incompleteGroup) => {
    await (await open()).append(createBatch('a'))
    const [file] = await readdir(folder)
    await appendFile(join(folder, file ?? ''), incompleteGroup)
    const next = await open()
    await next.append(createBatch('b'))
    expect(await drainLines(next)).toEqual(['a\n', 'b\n'])
    expect(await readdir(folder)).toEqual([])
  },
)

test.each([
  ['its text', (text: string) => text.replace('second', 'sec0nd')],
  ['its header', (text: string) => text.replace(/\n7 \d+/, '\n9 x')],
  ['its length', (text: string) => text.replace(/\n7 /, '\n700 ')],
])('a group with damage to %s loses no event of other groups, and its file is kept', async (_, damage) => {
  const spool = await open()
  for (const text of ['first', 'second', 'third', 'fourth']) await spool.append(createBatch(text))
  const [file = ''] = await readdir(folder)
  const path = join(folder, file)
  const before = await readFile(path, 'utf8')
  await writeFile(path, damage(before))
  expect(await readFile(path, 'utf8')).not.toBe(before)
  expect(await drainLines(await open())).toEqual(['first\n', 'third\n', 'fourth\n'])
  expect(await readdir(folder)).toEqual([`${file}.damaged`])
})

test('rejects events that exceed its size, and accepts events again when it is empty', async () => {
  const spool = await open(100)
  await spool.append(createBatch('x'.repeat(40)))
  await expect(spool.append(createBatch('y'.repeat(40)))).rejects.toMatchObject({ kind: 'unavailable', retryAfter: 5 })
  await expect(spool.drain(() => Promise.reject(new Error('away')))).rejects.toThrow('away')
  expect(await drainLines(spool)).toEqual([`${'x'.repeat(40)}\n`])
  await spool.append(createBatch('y'.repeat(40)))
  expect(await drainLines(spool)).toEqual([`${'y'.repeat(40)}\n`])
})

test('rejects events while the disk is full, and continues in the same file afterwards', async () => {
  const disk = { full: false }
  const spool = await open(1_000_000, {
    async openFile(...args) {
      const handle = await openFile(...args)
      const append = handle.appendFile.bind(handle)
      handle.appendFile = async (data) => {
        if (!disk.full) return await append(data)
        await append((data as Buffer).subarray(0, 5))
        throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
      }
      return handle
    },
  })
  for (const storedText of ['a', 'b']) {
    disk.full = true
    for (const text of ['x', 'y', 'z']) {
      await expect(spool.append(createBatch(text))).rejects.toMatchObject({ kind: 'unavailable', retryAfter: 5, cause: { code: 'ENOSPC' } })
    }
    disk.full = false
    await spool.append(createBatch(storedText))
    expect(await readdir(folder)).toHaveLength(1)
  }
  expect(await drainLines(spool)).toEqual(['a\n', 'b\n'])
})

test('rejects events while its folder is missing, and accepts them when it exists again', async () => {
  const spool = await open()
  await rm(folder, { recursive: true })
  for (const text of ['x', 'y']) {
    await expect(spool.append(createBatch(text))).rejects.toMatchObject({ kind: 'unavailable', retryAfter: 5, cause: { code: 'ENOENT' } })
  }
  await mkdir(folder)
  await spool.append(createBatch('a'))
  expect(await drainLines(spool)).toEqual(['a\n'])
})
