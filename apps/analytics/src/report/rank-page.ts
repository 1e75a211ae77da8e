import { type PageRequest, pageByKey } from '@vitascope/request'

const RANK = /^\d{1,9}$/

/**
 * Returns one page of a list whose order can change between pages, such as that by views. The page token is the number
 * of earlier rows. Throws `invalid` for a negative page size and for a token of another list.
 */
export async function pageByRank<Row>(
  request: PageRequest,
  max: number,
  read: (page: { limit: number; skip: number }) => Promise<readonly Row[]>,
): Promise<{ rows: Row[]; nextPageToken: string }> {
  const { rows, nextPageToken } = await pageByKey<{ row: Row; rank: number }>(request, max, {
    start: '0',
    isKey: (text) => RANK.test(text),
    getKey: ({ rank }) => String(rank),
    async read({ after, limit, skip }) {
      const earlier = Number(after) + skip
      return (await read({ limit, skip: earlier })).map((row, index) => ({ row, rank: earlier + index + 1 }))
    },
  })
  return { rows: rows.map(({ row }) => row), nextPageToken }
}
