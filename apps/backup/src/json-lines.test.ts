import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { readCompressed, readLines, readTextLines, writeLines } from './json-lines.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'vitascope-json-lines-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function* yieldAll<Value>(values: readonly Value[]): AsyncGenerator<Value> {
  yield* values
}

async function readAll(stream: AsyncIterable<unknown>): Promise<unknown[]> {
  const values: unknown[] = []
  for await (const value of stream) values.push(value)
  return values
}

test('returns the values that were written', async () => {
  const file = join(folder, 'values.gz')
  const values = [
    { name: 'media/1/a.mp4', bytes: 1 },
    { name: 'media/1/ä\n.mp4', bytes: 2 },
  ]
  await writeLines(file, yieldAll(values))
  expect(await readAll(readLines(file))).toEqual(values)
})

test.each<[string, (file: string) => AsyncIterable<unknown>]>([
  ['values', (file: string) => readLines(file)],
  ['lines', (file: string) => readTextLines(file)],
  ['bytes', (file: string) => readCompressed(file)],
])('the reader of %s throws if the file is missing or damaged', async (_, read) => {
  const damaged = join(folder, 'damaged.gz')
  writeFileSync(damaged, 'not compressed')
  await expect(readAll(read(damaged))).rejects.toMatchObject({ code: 'Z_DATA_ERROR' })
  await expect(readAll(read(join(folder, 'missing.gz')))).rejects.toMatchObject({ code: 'ENOENT' })
})
