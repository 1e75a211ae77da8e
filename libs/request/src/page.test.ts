import { expect, test } from '@jest/globals'
import { decodePageToken, encodePageToken, type PagePosition, pageById, readIdToken, toPageSize, toTokenPage } from './page.ts'

const first = { pageSize: 0, pageToken: '', skip: 0 }
const emptyList = { read: async () => [], getId: () => '1' }

/** A list of the ids 1 to `length`. */
function buildList(length: number, positions: PagePosition[] = []) {
  const read = async (position: PagePosition) => {
    positions.push(position)
    const ids = Array.from({ length }, (_, index) => String(index + 1)).filter((id) => Number(id) > Number(position.after))
    return ids.slice(position.skip, position.skip + position.limit)
  }
  return { read, getId: (id: string) => id }
}

test('the default page size is the maximum, unless the caller sets another', () => {
  expect(toPageSize({ pageSize: 0 }, 1_000)).toBe(1_000)
  expect(toPageSize({ pageSize: 0 }, 1_000, 10)).toBe(10)
  expect(toPageSize({ pageSize: 5_000, skip: 3 }, 1_000)).toBe(1_000)
})

test('a page keeps its token and the number of skipped rows', () => {
  expect(toTokenPage({ pageSize: 0, pageToken: 'token', skip: 3 }, 1_000, 10)).toEqual({ size: 10, token: 'token', skip: 3 })
  expect(toTokenPage({ ...first, pageSize: 5_000 }, 1_000)).toEqual({ size: 1_000, token: '', skip: 0 })
})

test.each([
  ['page_size', { pageSize: -1 }],
  ['skip', { skip: -1 }],
  ['page_token', { pageToken: 'x' }],
  ['page_token', { pageToken: encodePageToken(['0']) }],
  ['page_token', { pageToken: encodePageToken(['1; drop']) }],
  ['page_token', { pageToken: encodePageToken(['1', '2']) }],
])('an invalid %s is rejected', async (field, bad) => {
  const page = pageById({ ...first, ...bad }, 10, emptyList)
  await expect(page).rejects.toMatchObject({ kind: 'invalid', fields: [{ field }] })
})

test('an invalid page size and an invalid skip are reported together', () => {
  expect(() => toPageSize({ pageSize: -1, skip: -1 }, 10)).toThrow('bad fields: skip, page_size')
})

test('pages follow each other until the list ends', async () => {
  const positions: PagePosition[] = []
  const list = buildList(5, positions)
  const one = await pageById({ ...first, pageSize: 2, skip: 1 }, 10, list)
  expect(one.rows).toEqual(['2', '3'])
  const two = await pageById({ ...first, pageSize: 2, pageToken: one.nextPageToken }, 10, list)
  expect(two).toEqual({ rows: ['4', '5'], nextPageToken: '' })
  expect(positions).toEqual([
    { after: '0', limit: 3, skip: 1 },
    { after: '3', limit: 3, skip: 0 },
  ])
})

test('a page ends before its message becomes too large, but has at least one row', async () => {
  const { rows, nextPageToken } = await pageById(first, 10, { ...buildList(9), getBytes: () => 1024 * 1024 })
  expect(rows).toEqual(['1', '2', '3'])
  expect(readIdToken(nextPageToken)).toBe('3')
  expect((await pageById(first, 10, { ...buildList(9), getBytes: () => 2 ** 22 })).rows).toEqual(['1'])
})

test('a page token contains the sort values of the last row', () => {
  expect(decodePageToken(encodePageToken(['2026-01-01', '7']), 2)).toEqual(['2026-01-01', '7'])
  expect(decodePageToken('', 2)).toBeUndefined()
  expect(() => decodePageToken(Buffer.from('["7",null]').toString('base64url'), 2)).toThrow('page_token: is not a cursor of this list')
})
