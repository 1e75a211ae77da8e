import { execFile, spawn } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import { type CatalogueDatabase, catalogueDatabase } from '../../test/catalogue-database.ts'
import { ImportRejected, importGeonames } from './geonames-import.ts'

let catalogue: CatalogueDatabase

beforeAll(async () => {
  catalogue = await catalogueDatabase()
  await catalogue.db.query('create table kept as table postcode')
})
afterAll(() => catalogue.close())
beforeEach(async () => {
  await catalogue.db.query('truncate postcode')
  await catalogue.db.query('insert into postcode select * from kept')
})

const line = (country: string, postcode: string, latitude = '1.5', longitude = '-2.25', accuracy = '4') =>
  [country, postcode, 'Place', 'State', '', '', '', '', '', latitude, longitude, accuracy].join('\t')
const file = (...lines: string[]) =>
  async function* () {
    yield Buffer.from(`${lines.join('\n')}\n`)
  }
const rows = (country: string) =>
  catalogue.db.query<{ postcode: string }>(
    'select postcode_key, postcode, latitude, longitude from postcode where country = $1 order by 1',
    [country],
  )
const all = () => catalogue.db.query('select * from postcode order by 1, 2')

test('the sample has at least 200 places in five countries', async () => {
  const counts = await catalogue.db.query<{ country: string; count: number }>(
    'select country, count(*)::int as count from postcode group by country order by country',
  )
  expect(counts.map(({ country }) => country)).toEqual(['DE', 'FR', 'GB', 'NL', 'US'])
  expect(counts.reduce((sum, { count }) => sum + count, 0)).toBeGreaterThanOrEqual(200)
  expect(counts.every(({ count }) => count >= 40)).toBe(true)
})

describe('an import', () => {
  test('replaces only the countries in the file', async () => {
    const before = await rows('DE')
    const result = await importGeonames(catalogue.db, file(line('NL', '9999 ZZ'), line('BE', '1000'), line('NL', '1011')))
    expect(result).toEqual({ lines: 3, skipped: 0, postcodes: 3, countries: ['BE', 'NL'] })
    expect((await rows('NL')).map(({ postcode }) => postcode)).toEqual(['1011', '9999 ZZ'])
    expect(await rows('BE')).toEqual([{ postcode_key: '1000', postcode: '1000', latitude: 1.5, longitude: -2.25 }])
    expect(await rows('DE')).toEqual(before)
  })
  test('keeps the first of the most accurate places per postcode', async () => {
    const places = [
      line('AT', '1010', '1', '1', ''),
      line('AT', '1010', '2', '2', '6'),
      line('AT', '10 10', '3', '3', '6'),
      line('CH', '1010'),
    ]
    expect(await importGeonames(catalogue.db, file(...places))).toMatchObject({ lines: 4, postcodes: 2 })
    expect(await rows('AT')).toEqual([{ postcode_key: '1010', postcode: '1010', latitude: 2, longitude: 2 }])
  })
  test('reports the line numbers of invalid lines and changes nothing', async () => {
    const before = await all()
    const lines = [line('NL', '1'), 'what', line('NL', '2'), line('NL', '3', '91'), ...Array(30).fill('x')]
    const error = await importGeonames(catalogue.db, file(...lines)).catch((reason) => reason)
    expect(error).toBeInstanceOf(ImportRejected)
    const output = error.message.split('\n')
    expect(output[0]).toBe('line 2 has 1 columns, not 12')
    expect(output[1]).toBe('line 4 has no latitude from -90 to 90')
    expect(output.slice(-2)).toEqual(['and 12 more', 'nothing was imported'])
    expect(output).toHaveLength(22)
    expect(await all()).toEqual(before)
  })
  test('skips invalid lines when configured to', async () => {
    const skipped: string[] = []
    const source = file(line('NL', '1'), 'what', line('NL', '2'))
    const result = await importGeonames(catalogue.db, source, { skip: (problem) => skipped.push(problem) })
    expect(result).toEqual({ lines: 3, skipped: 1, postcodes: 2, countries: ['NL'] })
    expect(skipped).toEqual(['line 2 has 1 columns, not 12'])
  })
  test('changes nothing for a file without postcodes or a truncated file', async () => {
    const before = await all()
    await expect(importGeonames(catalogue.db, file(), { skip: () => {} })).rejects.toThrow('contains no postcode')
    await expect(
      importGeonames(catalogue.db, async function* () {
        yield Buffer.from(`${line('NL', '1')}\n`.repeat(10_000))
        throw new Error('the disk broke')
      }),
    ).rejects.toThrow('the disk broke')
    expect(await all()).toEqual(before)
  })
  test('becomes visible completely or not at all', async () => {
    const many = Array.from({ length: 5_000 }, (_, index) => line('NL', String(10_000 + index)))
    let under = true
    const importing = importGeonames(catalogue.db, file(...many)).finally(() => {
      under = false
    })
    const seen = new Set<number>()
    while (under) seen.add((await rows('NL')).length)
    await importing
    seen.add((await rows('NL')).length)
    expect([...seen].filter((count) => count !== 45 && count !== 5_000)).toEqual([])
    expect(seen).toContain(5_000)
  })
  test('of two concurrent imports of a country, one remains', async () => {
    const both = [file(line('NL', '1'), line('BE', '1')), file(line('BE', '2'), line('NL', '2'))]
    await Promise.all(both.map((source) => importGeonames(catalogue.db, source)))
    const [nl, be] = [await rows('NL'), await rows('BE')]
    expect(nl).toHaveLength(1)
    expect(nl).toEqual(be)
  })
})

describe('the command', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vitascope-import-'))
  })
  afterEach(() => rm(folder, { recursive: true }))
  const script = join(import.meta.dirname, '../import-postcodes.ts')
  const environment = () => ({ ...process.env, VITASCOPE_CATALOGUE_DATABASE_URL: catalogue.url })
  const command = (...args: string[]) =>
    new Promise<{ code: number | string; out: string; err: string }>((resolve) =>
      execFile(process.execPath, ['--disable-warning=ExperimentalWarning', script, ...args], { env: environment() }, (error, out, err) =>
        resolve({ code: error?.code ?? 0, out, err }),
      ),
    )

  test('prints a summary', async () => {
    const path = join(folder, 'places.txt')
    await writeFile(path, `${line('NL', '1011 AB')}\nbad\n`)
    expect(await command(path)).toMatchObject({ code: 1, out: '', err: 'line 2 has 1 columns, not 12\nnothing was imported\n' })
    const done = await command('--skip-bad', path)
    expect([done.code, done.err]).toEqual([0, 'line 2 has 1 columns, not 12\n'])
    expect(done.out).toMatch(/^1 postcodes of NL from 2 lines, 1 of them skipped, in \d+\.\d s\n$/)
    expect((await rows('NL')).map(({ postcode }) => postcode)).toEqual(['1011 AB'])
  })
  test('reads the standard input, and removes its copy', async () => {
    const options = { env: { ...environment(), TMPDIR: folder } }
    const child = promisify(execFile)(process.execPath, ['--disable-warning=ExperimentalWarning', script, '-'], options)
    child.child.stdin?.end(`${line('NL', '1012 AB')}\n`)
    expect((await child).stdout).toMatch(/^1 postcodes of NL from 1 lines, in /)
    expect((await rows('NL')).map(({ postcode }) => postcode)).toEqual(['1012 AB'])
    expect(await readdir(folder)).toEqual([])
  })
  test('changes nothing when it is killed, and the next import is complete', async () => {
    const before = await all()
    const pipe = join(folder, 'pipe')
    await promisify(execFile)('mkfifo', [pipe])
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, pipe], { env: environment(), stdio: 'ignore' })
    const ended = new Promise((resolve) => child.once('exit', (_, signal) => resolve(signal)))
    const writer = createWriteStream(pipe)
    writer.on('error', () => {})
    writer.write(`${line('NL', '1')}\n`.repeat(50_000))
    const started = 'select from pg_stat_progress_copy where datname = current_database() and tuples_processed > 1000'
    await waitFor(async () => (await catalogue.db.query(started)).length > 0, { timeout: 20_000 })
    child.kill('SIGKILL')
    expect(await ended).toBe('SIGKILL')
    writer.destroy()
    expect(await all()).toEqual(before)
    const path = join(folder, 'places.txt')
    await writeFile(path, `${line('NL', '2')}\n`)
    expect(await command(path)).toMatchObject({ code: 0 })
    expect((await rows('NL')).map(({ postcode }) => postcode)).toEqual(['2'])
  })
  test('prints an error for invalid arguments', async () => {
    expect(await command(join(folder, 'none.txt'))).toMatchObject({ code: 1, err: expect.stringContaining('cannot be read (ENOENT)') })
    expect(await command()).toMatchObject({ code: 2, err: expect.stringContaining('usage') })
    expect(await command('--other', 'x')).toMatchObject({ code: 2 })
  })
})
