import { expect, test } from '@jest/globals'
import { pageByRank } from './rank-page.ts'

const names = ['a', 'b', 'c', 'd', 'e']
const read = async ({ limit, skip }: { limit: number; skip: number }) => names.slice(skip, skip + limit)

test('pages follow each other until the list ends', async () => {
  const first = await pageByRank({ pageSize: 2, pageToken: '', skip: 1 }, 10, read)
  expect(first.rows).toEqual(['b', 'c'])
  expect(await pageByRank({ pageSize: 2, pageToken: first.nextPageToken, skip: 0 }, 10, read)).toEqual({
    rows: ['d', 'e'],
    nextPageToken: '',
  })
})

test.each([{ pageToken: 'x' }, { pageToken: Buffer.from('["1; drop"]').toString('base64url') }, { pageSize: -1 }, { skip: -1 }])(
  'the page %j is rejected',
  async (bad) => {
    await expect(pageByRank({ pageSize: 0, pageToken: '', skip: 0, ...bad }, 10, read)).rejects.toMatchObject({ kind: 'invalid' })
  },
)
