import { expect, test } from '@jest/globals'
import type { Entry } from './entry.ts'
import { readEntryPage } from './entry-page.ts'

const entry = (id: number): Entry => ({
  collaborationId: String(id),
  videoId: '1',
  organisationId: '1',
  userId: '',
  email: '',
  createdByUserId: '1',
  lastModifiedByUserId: '1',
  createTime: new Date(0),
  updateTime: new Date(0),
  guestLinkExpireTime: undefined,
  clips: [],
})
const stored = Array.from({ length: 100 }, (_, nth) => entry(nth + 1))
const read = async ({ after, limit, skip }: { after: string; limit: number; skip: number }) =>
  stored.filter(({ collaborationId }) => Number(collaborationId) > Number(after)).slice(skip, skip + limit)

async function pages(pageSize: number, weight: number, skip = 0): Promise<number[]> {
  const sizes: number[] = []
  for (let pageToken = '', passed = skip; ; passed = 0) {
    const page = await readEntryPage({ pageSize, pageToken, skip: passed }, read, () => weight)
    sizes.push(page.entries.length)
    if (page.nextPageToken === '') return sizes
    pageToken = page.nextPageToken
  }
}

test('a page has the requested number of rows', async () => {
  expect(await pages(0, 1)).toEqual([100])
  expect(await pages(1_000, 1)).toEqual([100])
  expect(await pages(40, 1)).toEqual([40, 40, 20])
  expect(await pages(10, 1, 85)).toEqual([10, 5])
  expect(await pages(10, 1, 100)).toEqual([0])
})

test('a page of large entries ends before its message becomes too large', async () => {
  expect(await pages(0, 1024 * 1024)).toEqual([...Array(33).fill(3), 1])
  expect(await pages(0, 2 * 1024 * 1024)).toEqual(Array(100).fill(1))
  expect(await pages(0, 30 * 1024 * 1024)).toEqual(Array(100).fill(1))
})

test('an invalid page token, page size or skip is rejected', async () => {
  const token = (id: unknown) => Buffer.from(JSON.stringify([id])).toString('base64url')
  for (const pageToken of ['x', token('-1'), token('a'), token(5)]) {
    await expect(readEntryPage({ pageSize: 0, pageToken, skip: 0 }, read, () => 1)).rejects.toMatchObject({
      fields: [{ field: 'page_token' }],
    })
  }
  await expect(readEntryPage({ pageSize: -1, pageToken: '', skip: -1 }, read, () => 1)).rejects.toMatchObject({
    fields: [{ field: 'skip' }, { field: 'page_size' }],
  })
})
