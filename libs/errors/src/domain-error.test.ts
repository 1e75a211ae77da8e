import { expect, test } from '@jest/globals'
import { DomainError, invalid, isDomainError, notFound } from './domain-error.ts'

test('bad input names every field', () => {
  const error = invalid([
    { field: 'url', message: 'is missing' },
    { field: 'limit', message: 'must be from 1 to 20' },
  ])
  expect([error.kind, error.reason, error.message]).toEqual(['invalid', 'INVALID_INPUT', 'bad fields: url, limit'])
  expect(invalid([{ field: 'url', message: 'is missing' }]).message).toBe('url: is missing')
})

test('a missing thing has a reason of its noun', () => {
  expect(notFound('api key', '7')).toMatchObject({ kind: 'not_found', reason: 'API_KEY_NOT_FOUND', message: 'no api key 7' })
})

test('its cause goes along, and only it is a refusal', () => {
  const cause = new Error('why')
  expect(new DomainError('unavailable', 'AWAY', 'try again', { cause, retryAfter: 2 })).toMatchObject({ cause, retryAfter: 2, fields: [] })
  expect([isDomainError(notFound('video', '1')), isDomainError(cause)]).toEqual([true, false])
})
