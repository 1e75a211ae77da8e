import { expect, test } from '@jest/globals'
import { readBucketConfig } from './bucket-config.ts'
import { readAccessKeyIds } from './grant-config.ts'

const COMPLETE = ['encoding=a', 'worker=b', 'delivery=c', 'backup=d']

test('each component needs access key ids that no other component has', () => {
  expect(readAccessKeyIds(COMPLETE)).toEqual({ encoding: ['a'], worker: ['b'], delivery: ['c'], backup: ['d'] })
  expect(readAccessKeyIds(COMPLETE.with(0, 'encoding=a,e'))?.encoding).toEqual(['a', 'e'])
  const wrong = [
    [],
    COMPLETE.slice(1),
    [...COMPLETE, 'gateway=e'],
    COMPLETE.with(3, 'backup='),
    COMPLETE.with(3, 'backup=a'),
    COMPLETE.with(3, 'worker=e'),
    COMPLETE.with(3, 'backup=d,'),
    COMPLETE.with(3, 'backup=d,a'),
  ]
  for (const args of wrong) expect([args, readAccessKeyIds(args)]).toEqual([args, undefined])
})

test('the bucket and the keys of its owner are required', () => {
  expect(() => readBucketConfig({ VITASCOPE_STORAGE_DIR: '/var/lib/objects' })).toThrow('VITASCOPE_S3_BUCKET is missing')
})
