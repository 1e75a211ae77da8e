import { expect, test } from '@jest/globals'
import { invalid } from '@vitascope/errors'
import { collectRows, nextLink, type PageRequest } from './pages.ts'
import { withPublicNames } from './public-names.ts'

/** A list of 1 to `length`, in pages no longer than 4 whatever was asked for. */
function aList(length: number, asked: PageRequest[] = []) {
  return async (page: PageRequest) => {
    asked.push(page)
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
])('from row %i, %i rows at most', async (start, limit, rows, more) => {
  expect(await collectRows({ start, limit, part: 5 }, aList(10))).toEqual({ rows, more })
})

test('rows are passed over once, and no more is asked for than is wanted', async () => {
  const asked: PageRequest[] = []
  await collectRows({ start: 3, limit: 6, part: 5 }, aList(10, asked))
  expect(asked).toEqual([
    { pageSize: 5, pageToken: '', skip: 2 },
    { pageSize: 2, pageToken: '6', skip: 0 },
  ])
})

test('a cursor leads on, whatever the start', async () => {
  const asked: PageRequest[] = []
  const page = await collectRows({ start: 20_000, cursor: '6', limit: 3, part: 5 }, aList(10, asked))
  expect(page).toEqual({ rows: [7, 8, 9], more: '9' })
  expect(asked).toEqual([{ pageSize: 3, pageToken: '6', skip: 0 }])
})

test('a start beyond 10,000 is refused, and the refusal says what to do', async () => {
  const asked: PageRequest[] = []
  await expect(collectRows({ start: 10_001, limit: 3, part: 5 }, aList(10, asked))).rejects.toMatchObject({
    kind: 'invalid',
    fields: [{ field: 'start', message: expect.stringContaining('Link') }],
  })
  expect(asked).toEqual([])
  expect(await collectRows({ start: 10_000, limit: 3, part: 5 }, aList(10_001))).toEqual({ rows: [10_000, 10_001], more: '' })
})

test('a link leads on only where more follows', () => {
  const page = { start: 1, limit: 20, query: { organisation_id: '2' } }
  expect(nextLink('http://127.0.0.1:8080', '/user', { ...page, more: '' })).toEqual({})
  expect(nextLink('http://127.0.0.1:8080', '/user', { ...page, more: 'abc' })).toEqual({
    Link: '<http://127.0.0.1:8080/v2/user?organisation_id=2&start=21&limit=20&cursor=abc>; rel="next"',
  })
})

test('refusals of a service name fields as the caller knows them', async () => {
  const refusal = invalid([
    { field: 'source_url', message: 'must be reachable' },
    { field: 'allowed_ips[1]', message: 'must be an address' },
    { field: 'title', message: 'must not be blank' },
  ])
  const answered = withPublicNames({ source_url: 'url', allowed_ips: 'security.allowed_ips' }, Promise.reject(refusal))
  await expect(answered).rejects.toMatchObject({
    kind: 'invalid',
    message: 'bad fields: url, security.allowed_ips[1], title',
    fields: [{ field: 'url' }, { field: 'security.allowed_ips[1]' }, { field: 'title' }],
  })
})
