import { expect, test } from '@jest/globals'
import { routes } from '../table.ts'

test('every route that is no safe GET has its entries, but for those that store no record', () => {
  const without = routes.filter(({ verb, safe, audited }) => (verb !== 'get' || !safe) && !audited)
  expect(without.map(({ verb, paths }) => `${verb} ${paths[0]}`).toSorted()).toEqual([
    'get /id',
    'get /id/char{/:length}',
    // What is begun has its entry; how it goes on has none.
    'head /upload/tus/:uploadId',
    'patch /upload/tus/:uploadId',
    // Each event has its row.
    'post /analytics/events',
  ])
  expect(routes.filter(({ verb, safe, audited }) => verb === 'get' && safe && audited)).toEqual([])
})
