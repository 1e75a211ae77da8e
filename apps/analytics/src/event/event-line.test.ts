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
  knownViewOnly: false,
}
const line = toLine(toStoredEvent(received, { organisationId: '1', durationMs: 0, receivedMs: 0, visitor: undefined }), '1970-01-01')

test('a line has one value for each column except the batch id', () => {
  expect(line.split('\t')).toHaveLength(COLUMNS.split(',').length - 1)
  expect(line).toMatch(/\ta\\tb\t4\n$/)
})

test('a line of the previous version gets the missing column, and a complete line is not changed', () => {
  const earlier = line.replace(/\t4\n$/, '\n')
  expect(completeLine(earlier)).toBe(line.replace(/\t4\n$/, '\t\\N\n'))
  expect(completeLine(line)).toBe(line)
})
