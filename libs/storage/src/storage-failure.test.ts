// Faults: C19
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { S3ServiceException } from '@aws-sdk/client-s3'
import { expect, test } from '@jest/globals'
import { DomainError, invalid, notFound } from '@vitascope/errors'
import { isStorageFailure } from './storage-failure.ts'

const catchError = (run: () => Promise<unknown>): Promise<unknown> => run().catch((error: unknown) => error)

test.each([
  ['an unreachable store', new DomainError('unavailable', 'STORAGE_UNAVAILABLE', 'try again')],
  ['a full disk', new DomainError('unavailable', 'STORAGE_FULL', 'the storage is full')],
  ['a missing object', notFound('object', 'media/1/a.mp4')],
  ['a rejected request', new S3ServiceException({ name: 'AccessDenied', $fault: 'client', $metadata: { httpStatusCode: 403 } })],
  ['a broken connection', Object.assign(new Error('reset'), { code: 'ECONNRESET' })],
])('%s is a failure of the storage', (_, error) => {
  expect(isStorageFailure(error)).toBe(true)
})

test('a file that cannot be read is a failure of the storage', async () => {
  expect(isStorageFailure(await catchError(() => readFile(`${import.meta.filename}.missing`)))).toBe(true)
})

test.each([
  ['a rejected result', invalid([{ field: 'result', message: 'is missing' }])],
  ['an unavailable service', new DomainError('unavailable', 'SERVICE_UNAVAILABLE', 'try again')],
  ['an invalid object name', new DomainError('invalid', 'BAD_OBJECT_NAME', 'not a valid object name')],
  ['a wrong argument', Object.assign(new TypeError('must be a string'), { code: 'ERR_INVALID_ARG_TYPE' })],
  ['another value', 'storage'],
])('%s is not a failure of the storage', (_, error) => {
  expect(isStorageFailure(error)).toBe(false)
})

test('a program that cannot be started is not a failure of the storage', async () => {
  expect(isStorageFailure(await catchError(() => promisify(execFile)(`${import.meta.filename}.missing`)))).toBe(false)
})
