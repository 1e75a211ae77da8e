import { expect, test } from '@jest/globals'
import { toStoredEvent } from './event.ts'
import { COLUMNS, completeLine, toLine } from './event-line.ts'

const received = {
  videoId: '1',
  viewId: '7d444840-9dc0-41d1-b245-5ffdce74fad2',
  type: 3,
  atMs: 0,
  watched: [{ fromSeconds: 0, toSeconds: 1 }],
  rewatched: [],
  language: '',
  subtitle: '',
  quality: { startupMs: 1, stalls: 2, stalledMs: 3, switches: 4, error: 'a\tb' },
  referrer: 'www.example.com',
  knownViewOnly: false,
}
const software = { device: 'tv', browser: 'other', os: 'linux', country: 'DE' }
const line = toLine(
  toStoredEvent(received, { organisationId: '1', durationMs: 0, receivedMs: 0, visitor: undefined, software }),
  '1970-01-01',
)

test('a line has one value for each column except the batch id', () => {
  expect(line.split('\t')).toHaveLength(COLUMNS.split(',').length - 1)
  expect(line).toMatch(/\ta\\tb\t4\ttv\/other\/linux\/DE\/example.com\n$/)
})

test('a line of an earlier version gets the missing columns, and a complete line is not changed', () => {
  const [previous, earlier] = [line.replace(/\t[^\t]*\n$/, '\n'), line.replace(/\t[^\t]*\t[^\t]*\n$/, '\n')]
  expect(completeLine(previous)).toBe(previous.replace(/\n$/, '\t\\N\n'))
  expect(completeLine(earlier)).toBe(earlier.replace(/\n$/, '\t\\N\t\\N\n'))
  expect(completeLine(line)).toBe(line)
})
