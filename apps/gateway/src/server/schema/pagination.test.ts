import { expect, test } from '@jest/globals'
import { collectRows, nextLink, type PageRequest } from './pagination.ts'

/** A list rpc over 1 to `length`, with pages of at most 4 rows. */
function createList(length: number, requests: PageRequest[] = []) {
  return async (page: PageRequest) => {
    requests.push(page)
    const from = page.pageToken === '' ? page.skip : Number(page.pageToken)
    const rows = Array.from({ length }, (_, index) => index + 1).slice(from, from + Math.min(page.pageSize, 4))
    const next = from + rows.length
    return { rows, nextPageToken: next < length ? String(next) : '' }
  }
}

test.each([
  [1, 3, [1, 2, 3], '3'],
  [1, 10, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], ''],
  [8, 10, [8, 9, 10], ''],
  [11, 10, [], ''],
  [4, 6, [4, 5, 6, 7, 8, 9], '9'],
])('returns at most the rows of the page: from row %i, limit %i', async (start, limit, rows, nextCursor) => {
  expect(await collectRows({ start, limit, maxPageSize: 5 }, createList(10))).toEqual({ rows, nextCursor })
})

test('requests only the rows of the page and skips the rows before it once', async () => {
  const requests: PageRequest[] = []
  await collectRows({ start: 3, limit: 6, maxPageSize: 5 }, createList(10, requests))
  expect(requests).toEqual([
    { pageSize: 5, pageToken: '', skip: 2 },
    { pageSize: 2, pageToken: '6', skip: 0 },
  ])
})

test('a cursor takes precedence over the start', async () => {
  const requests: PageRequest[] = []
  const page = await collectRows({ start: 20_000, cursor: '6', limit: 3, maxPageSize: 5 }, createList(10, requests))
  expect(page).toEqual({ rows: [7, 8, 9], nextCursor: '9' })
  expect(requests).toEqual([{ pageSize: 3, pageToken: '6', skip: 0 }])
})

test('the error for a start above 10,000 recommends the cursor', async () => {
  const requests: PageRequest[] = []
  await expect(collectRows({ start: 10_001, limit: 3, maxPageSize: 5 }, createList(10, requests))).rejects.toMatchObject({
    kind: 'invalid',
    fields: [{ field: 'start', message: expect.stringContaining('Link') }],
  })
  expect(requests).toEqual([])
  expect(await collectRows({ start: 10_000, limit: 3, maxPageSize: 5 }, createList(10_001))).toEqual({
    rows: [10_000, 10_001],
    nextCursor: '',
  })
})

test('a page has a next link only if there are more rows', () => {
  const page = { start: 1, limit: 20, query: { organisation_id: '2' } }
  expect(nextLink('http://127.0.0.1:8080', '/user', { ...page, nextCursor: '' })).toEqual({})
  expect(nextLink('http://127.0.0.1:8080', '/user', { ...page, nextCursor: 'abc' })).toEqual({
    Link: '<http://127.0.0.1:8080/v2/user?organisation_id=2&start=21&limit=20&cursor=abc>; rel="next"',
  })
})
