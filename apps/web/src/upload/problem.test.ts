import { expect, test } from '@jest/globals'
import { explainFailure } from './plain-words.ts'
import { FileUnreadable, RequestRejected, readProblem, TemporaryFailure, toRequestError } from './problem.ts'

const none = { code: '', detail: '', errors: [] }

test('a problem document is read, and any other body is empty', () => {
  const problem = { code: 'invalid', detail: 'bad', errors: [{ field: 'a', message: 'is required' }], extra: 1 }
  expect(readProblem(JSON.stringify(problem))).toEqual({ code: 'invalid', detail: 'bad', errors: [{ field: 'a', message: 'is required' }] })
  expect(readProblem('<html>')).toEqual(none)
  expect(readProblem('null')).toEqual(none)
})

test.each([
  [408, '', 'busy', 0],
  [429, '5', 'busy', 5],
  [429, '86400', 'busy', 60],
  [500, 'Fri, 31 Dec 1999 23:59:59 GMT', 'busy', 0],
  [502, '', 'unreachable', 0],
  [503, '2', 'unreachable', 2],
])('status %d with Retry-After "%s" is temporary: %s', (status, retryAfter, reason, retryAfterSeconds) =>
  expect(toRequestError(status, '', retryAfter)).toMatchObject({ reason, retryAfterSeconds }),
)

test('a different offset is temporary, and any other 409 is not', () => {
  expect(toRequestError(409, '{"code":"offset_mismatch"}', undefined)).toBeInstanceOf(TemporaryFailure)
  expect(toRequestError(409, '{"code":"organisation_inactive"}', undefined)).toBeInstanceOf(RequestRejected)
})

test.each([
  [401, '', 'upload', 'This access key is not valid.'],
  [403, '', 'upload', 'This access key may not upload.'],
  [403, '', 'details', 'This access key may not change videos.'],
  [403, '', 'captions', 'This access key may not add captions.'],
  [404, '', 'details', 'The video does not exist any more.'],
  [413, 'quota_bytes', 'upload', 'Your organisation has no space left for this file.'],
  [413, 'upload_too_large', 'upload', 'This file is larger than the server accepts.'],
  [500, '', 'upload', 'The server did not accept this: status 500.'],
] as const)('status %d with code "%s" of %s is explained in plain words', (status, code, purpose, text) =>
  expect(explainFailure(new RequestRejected(status, { ...none, code }), purpose)).toContain(text),
)

test('an unknown rejection has the words of the server, without repeating a field error', () => {
  const errors = [{ field: 'title', message: 'must be one line' }]
  const problem = { code: 'invalid', detail: 'title: must be one line', errors }
  expect(explainFailure(new RequestRejected(400, problem), 'details')).toBe('The server did not accept this: title must be one line.')
  expect(explainFailure(new RequestRejected(400, { ...none, detail: 'too old.' }), 'upload')).toBe(
    'The server did not accept this: too old.',
  )
})

test('a file without captions is explained', () => {
  const errors = [{ field: 'content', message: 'contains no captions in the format .srt' }]
  expect(explainFailure(new RequestRejected(400, { ...none, errors }), 'captions')).toContain('No captions were found in this file.')
})

test('a file that cannot be read has its own sentence', () =>
  expect(explainFailure(new FileUnreadable(), 'upload')).toContain('Choose it again.'))
