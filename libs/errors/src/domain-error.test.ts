import { expect, test } from '@jest/globals'
import { DomainError, invalid, isDomainError, notFound, requireValid } from './domain-error.ts'

test('an invalid-argument error contains every bad field', () => {
  const error = invalid([
    { field: 'url', message: 'is missing' },
    { field: 'limit', message: 'must be from 1 to 20' },
  ])
  expect([error.kind, error.reason, error.message]).toEqual(['invalid', 'INVALID_INPUT', 'bad fields: url, limit'])
  expect(invalid([{ field: 'url', message: 'is missing' }]).message).toBe('url: is missing')
})

test('the message contains at most ten bad fields', () => {
  const fields = Array.from({ length: 12 }, (_, i) => ({ field: `f${i}`, message: 'is bad' }))
  expect(invalid(fields).message).toBe('bad fields: f0, f1, f2, f3, f4, f5, f6, f7, f8, f9 and 2 more')
  expect(invalid(fields).fields).toHaveLength(12)
})

test('a not-found error has a reason derived from the noun', () => {
  expect(notFound('api key', '7')).toMatchObject({ kind: 'not_found', reason: 'API_KEY_NOT_FOUND', message: 'no api key 7' })
})

test('a not-found error shows at most 100 characters of the id, and only text', () => {
  expect(notFound('video', '').message).toBe('no video')
  expect(notFound('video', 'a\0b').message).toBe('no video')
  expect(notFound('video', '1'.repeat(200)).message).toBe(`no video ${'1'.repeat(100)}`)
})

test('problems are thrown, and an empty list is not', () => {
  expect(() => requireValid([])).not.toThrow()
  expect(() => requireValid([{ field: 'url', message: 'is missing' }])).toThrow('url: is missing')
})

test('an error keeps its cause, and only a DomainError is recognised as one', () => {
  const cause = new Error('why')
  expect(new DomainError('unavailable', 'AWAY', 'try again', { cause, retryAfter: 2 })).toMatchObject({ cause, retryAfter: 2, fields: [] })
  expect([isDomainError(notFound('video', '1')), isDomainError(cause)]).toEqual([true, false])
})
