import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { createMetrics, type Metrics } from '@vitascope/telemetry'
import { testLog, waitFor } from '@vitascope/testing'
import { buildCountryDatabase } from '@vitascope/testing/country-database'
import { type Countries, openCountries } from './countries.ts'

let folder: string
let file: string
let metrics: Metrics
let countries: Countries | undefined
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'country-'))
  file = join(folder, 'countries.mmdb')
  metrics = createMetrics('test')
})
afterEach(async () => {
  countries?.close()
  countries = undefined
  await rm(folder, { recursive: true })
})

const open = () => {
  countries = openCountries(file, { log: testLog, metrics, checkMs: 10 })
  return countries
}
const isLoaded = async () => /^vitascope_country_database_loaded(?:\{.*\})? (\d)/m.exec(await metrics.text())?.[1]
/** Replaces the file in one step, as an update does. */
const replace = async (content: Buffer | string) => {
  await writeFile(`${file}.new`, content)
  await rename(`${file}.new`, file)
}
const GERMANY = buildCountryDatabase({ '203.0.113.0/24': 'DE', '2001:db8::/32': 'DE' })

test('finds the countries of IPv4 and IPv6 addresses', async () => {
  await replace(buildCountryDatabase({ '203.0.113.0/24': 'DE', '198.51.100.128/25': 'NL', '2001:db8::/32': 'FR', '2a00::/12': 'SE' }))
  const { find } = open()
  const addresses = [
    '203.0.113.7',
    '203.0.114.1',
    '198.51.100.128',
    '198.51.100.127',
    '2001:db8::1',
    '2001:db9::1',
    '2a00:1450::1',
    'x',
    '',
  ]
  expect(addresses.map(find)).toEqual(['DE', undefined, 'NL', undefined, 'FR', undefined, 'SE', undefined, undefined])
  expect(await isLoaded()).toBe('1')
})

test('reads a file that appears or changes later', async () => {
  const { find } = open()
  expect([find('203.0.113.7'), await isLoaded()]).toEqual([undefined, '0'])
  await replace(GERMANY)
  await waitFor(() => find('203.0.113.7') === 'DE', { describe: 'the new file to be read' })
  await replace(buildCountryDatabase({ '203.0.113.0/24': 'AT' }))
  await waitFor(() => find('203.0.113.7') === 'AT', { describe: 'the changed file to be read' })
  expect(await isLoaded()).toBe('1')
})

test.each([
  ['an empty file', ''],
  ['another file', 'no database\n'],
  ['the first half of a database', GERMANY.subarray(0, GERMANY.length / 2)],
  ['a database whose tree is damaged', Buffer.concat([Buffer.alloc(600, 0xee), GERMANY.subarray(600)])],
])('%s is reported, and lookups use the previous database', async (_, content) => {
  await replace(GERMANY)
  const { find } = open()
  await replace(content)
  await waitFor(async () => (await isLoaded()) === '0', { describe: 'the damaged file to be reported' })
  expect(find('203.0.113.7')).toBe('DE')
  await replace(GERMANY)
  await waitFor(async () => (await isLoaded()) === '1', { describe: 'the good file to be read again' })
})

test('a damaged file at the start does not throw, and no country is found', async () => {
  await replace('no database')
  const { find } = open()
  expect([find('203.0.113.7'), await isLoaded()]).toEqual([undefined, '0'])
})
