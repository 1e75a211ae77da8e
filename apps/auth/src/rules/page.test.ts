import { expect, test } from '@jest/globals'
import { encodePageToken } from '@vitascope/postgres'
import { cutPage, readPage } from './page.ts'

const first = { pageSize: 0, pageToken: '', skip: 0 }

test('the default and the maximum page size are 1,000 rows', () => {
  expect(readPage(first)).toEqual({ size: 1_000, after: '0', skip: 0 })
  expect(readPage({ ...first, pageSize: 5_000 }).size).toBe(1_000)
})

test.each([
  ['page_size', { pageSize: -1 }],
  ['skip', { skip: -1 }],
  ['page_token', { pageToken: 'x' }],
  ['page_token', { pageToken: encodePageToken(['1; drop']) }],
])('an invalid %s is rejected', (field, bad) => {
  expect(() => readPage({ ...first, ...bad })).toThrow(expect.objectContaining({ fields: [expect.objectContaining({ field })] }))
})

test('a further row produces a token for the next page', () => {
  const page = readPage({ ...first, pageSize: 2 })
  const { rows, nextPageToken } = cutPage(['7', '8', '9'], page, (id) => id)
  expect(rows).toEqual(['7', '8'])
  expect(readPage({ ...first, pageToken: nextPageToken }).after).toBe('8')
  expect(cutPage(['7', '8'], page, (id) => id).nextPageToken).toBe('')
})

test('a page ends before its message becomes too large', () => {
  const rows = Array.from({ length: 9 }, (_, id) => ({ id: String(id + 1), text: 'x'.repeat(1024 * 1024) }))
  const cut = cutPage(rows, readPage(first), (row) => row.id)
  expect(cut.rows.map((row) => row.id)).toEqual(['1', '2'])
  expect(readPage({ ...first, pageToken: cut.nextPageToken }).after).toBe('2')
})
