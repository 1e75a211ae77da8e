import { expect, test } from '@jest/globals'
import { readRejection } from './access.ts'
import { RequestRejected } from './problem.ts'

const rejection = (status: number, field?: string) =>
  new RequestRejected(status, { code: '', detail: '', errors: field === undefined ? [] : [{ field, message: 'is required' }] })

test.each([
  ['an unknown key', rejection(401), '', { kind: 'rejected', text: expect.stringContaining('not valid') }],
  ['a key of several organisations', rejection(400, 'organisation_id'), '', { kind: 'organisation required', text: '' }],
  [
    'an invalid organisation number',
    rejection(400, 'organisation_id'),
    '0',
    { kind: 'organisation required', text: expect.stringContaining('no organisation') },
  ],
  ['an unknown organisation', rejection(404), '99', { kind: 'organisation required', text: expect.stringContaining('no organisation') }],
  [
    'an organisation that the key may not use',
    rejection(403),
    '99',
    { kind: 'organisation required', text: expect.stringContaining('may not') },
  ],
  ['a key that may only upload', rejection(403), '', { kind: 'accepted' }],
])('the check of %s', (_, error, organisationId, result) => expect(readRejection(error, organisationId)).toEqual(result))
