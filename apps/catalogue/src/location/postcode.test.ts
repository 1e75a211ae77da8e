import { describe, expect, test } from '@jest/globals'
import { readGeonamesLine } from './geonames-line.ts'
import { readLines } from './lines.ts'
import { findAreas, toPostcodeKey } from './postcode.ts'

test.each([
  ['1011 ab', '1011AB'],
  [' sw1a\u00a01aa ', 'SW1A1AA'],
  ['1000-205', '1000205'],
  ['L-1009', 'L1009'],
  ['D.10115', 'D10115'],
  [' .-', ''],
])('%j has the key %j', (written, key) => expect(toPostcodeKey(written)).toBe(key))

test.each([
  ['SW1A1AA', [{ key: 'SW1A', country: 'GB' }]],
  ['M11AE', [{ key: 'M1', country: 'GB' }]],
  ['1011AB', [{ key: '1011', country: 'NL' }]],
  ['902101234', [{ key: '90210', country: 'US' }]],
  ['K1A0B1', [{ key: 'K1A', country: 'CA' }]],
  ['10115', []],
  ['SW1A', []],
])('%s is possibly in %j', (key, areas) => expect(findAreas(key)).toEqual(areas))

describe('a line of a GeoNames file', () => {
  const columns = ['NL', '1011 AB', 'Amsterdam', 'Noord-Holland', '07', '', '', '', '', '52.3738', '4.8910', '6']
  const withColumn = (index: number, value: string) => columns.with(index, value).join('\t')

  test('is parsed', () => {
    const place = { country: 'NL', postcode: '1011 AB', key: '1011AB', latitude: '52.3738', longitude: '4.8910', accuracy: '6' }
    expect(readGeonamesLine(columns.join('\t'))).toEqual(place)
    expect(readGeonamesLine(withColumn(11, ''))).toEqual({ ...place, accuracy: '0' })
  })
  test.each([
    ['', 'has 1 columns'],
    [columns.slice(1).join('\t'), 'has 11 columns'],
    [`${columns.join('\t')}\t`, 'has 13 columns'],
    [withColumn(0, 'nl'), 'country code'],
    [withColumn(0, 'NLD'), 'country code'],
    [withColumn(1, ' - '), 'postcode'],
    [withColumn(1, '1'.repeat(21)), 'postcode'],
    [withColumn(1, '10\\N'), 'postcode'],
    [withColumn(1, '10\u000011'), 'postcode'],
    [withColumn(1, '10\ufffd11'), 'postcode'],
    [withColumn(9, ''), 'latitude'],
    [withColumn(9, '90.1'), 'latitude'],
    [withColumn(9, '1e1'), 'latitude'],
    [withColumn(10, '-180.5'), 'longitude'],
    [withColumn(10, 'NaN'), 'longitude'],
    [withColumn(11, '10'), 'accuracy'],
  ])('%j is rejected: %s', (line, problem) => expect(readGeonamesLine(line)).toMatch(problem))
})

describe('reading lines', () => {
  const read = async (...chunks: (string | Uint8Array)[]) => {
    async function* bytes() {
      for (const chunk of chunks) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    }
    const lines: string[] = []
    for await (const batch of readLines(bytes())) lines.push(...batch)
    return lines
  }
  test('splits at LF and CRLF, for any chunk boundaries', async () => {
    expect(await read('a\nb\r', '\nc', 'd\n')).toEqual(['a', 'b', 'cd'])
    expect(await read('a\n\nb')).toEqual(['a', '', 'b'])
    expect(await read('')).toEqual([])
    const text = Buffer.from('Zürich\n')
    expect(await read(text.subarray(0, 2), text.subarray(2))).toEqual(['Zürich'])
  })
  test('truncates a line that does not end', async () => {
    async function* endless() {
      for (;;) yield Buffer.alloc(1024 * 1024, 'x')
    }
    const lines: string[] = []
    for await (const batch of readLines(endless())) lines.push(...batch)
    expect(lines.map((line) => line.length)).toEqual([64 * 1024])
  })
})
