import { expect, test } from '@jest/globals'
import { explainFailure } from './postgres-error.ts'

test.each([
  [
    'a full disk',
    'FATAL:  could not write lock file "postmaster.pid": No space left on device',
    'DISK_FULL',
    'the disk of /data/pg is full',
  ],
  ['a port in use', 'WARNING:  could not bind IPv4 address "127.0.0.1": Address already in use', 'PORT_IN_USE', 'port 5432'],
  [
    'an older version',
    'DETAIL:  The data directory was initialized by PostgreSQL version 17, which is not compatible with this version 18.4.',
    'DATA_OF_ANOTHER_VERSION',
    'created by PostgreSQL 17; this is PostgreSQL 18.4',
  ],
  [
    'a folder of another user',
    'FATAL:  data directory "/data/pg" has wrong ownership',
    'DATA_OF_ANOTHER_USER',
    'cannot be read and written',
  ],
  ['anything else', 'FATAL:  something new', 'FAILED', 'something new'],
])('the error code shows %s', (_, line, problem, words) => {
  const error = explainFailure(['LOG:  starting', line], { dir: '/data/pg', port: 5432 })
  expect(error.problem).toBe(problem)
  expect(error.message).toContain(words)
})
