import { expect, test } from '@jest/globals'
import { routes } from '../../table.ts'

test('every route that changes something is audited, except those that store no record', () => {
  const without = routes.filter(({ verb, readOnly, audited }) => (verb !== 'get' || !readOnly) && !audited)
  expect(without.map(({ verb, paths }) => `${verb} ${paths[0]}`).toSorted()).toEqual([
    'get /id',
    'get /id/char{/:length}',
    // Creating an upload has an entry, its further requests have none.
    'head /upload/ticket/:uploadId',
    'head /upload/tus/:uploadId',
    'patch /upload/ticket/:uploadId',
    'patch /upload/tus/:uploadId',
    // Each event is a row of its own.
    'post /analytics/cmcd',
    'post /analytics/events',
    // They store nothing.
    'post /security/explain',
    'post /video/:videoId/access',
  ])
  // Their responses contain secrets.
  const reads = routes.filter(({ verb, readOnly, audited }) => verb === 'get' && readOnly && audited)
  expect(reads.map(({ paths }) => paths[0]).toSorted()).toEqual([
    '/apikey/organisation/:organisationId',
    '/apikey/user/:userId',
    '/oauth/thirdparty/:id',
    '/oauth/thirdparty/attribute/:attribute/value/:value',
  ])
})
