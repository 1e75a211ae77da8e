import { expect, test } from '@jest/globals'
import { invalid } from '@vitascope/errors'
import { domainError, toProblem } from './problem.ts'
import type { RequestContext } from './request-context.ts'

const context: RequestContext = {
  requestId: 'r',
  address: '192.0.2.1',
  template: '/v2/sample',
  instance: () => '/v2/sample',
  keyId: undefined,
  secrets: ['a-secret-of-the-caller'],
  isFromScript: false,
  startedAt: 0,
}

test('a message contains no secrets of the caller', () => {
  const { problem } = toProblem(domainError('not_found', 'KEY_NOT_FOUND', 'no key a-secret-of-the-caller'), context, 'http://h')
  expect(problem.detail).toBe('no key …')
})

test.each([0, 1, 10, 21, 22, 40])('a long message is truncated without leaving part of a secret (offset %i)', (before) => {
  const long = `${'a-secret-of-the-caller'.repeat(20)}${'x'.repeat(4_000 - 440 - before)}a-secret-of-the-caller${'y'.repeat(1_000_000)}`
  const { problem } = toProblem(domainError('invalid', 'BAD', long), context, 'http://h')
  expect(problem.detail.length).toBeLessThanOrEqual(4_001)
  expect(problem.detail).not.toMatch(/a-secret/)
  expect(problem.detail.endsWith('…')).toBe(true)
})

test('a problem lists at most 100 invalid fields, ten of them in its message', () => {
  const fields = Array.from({ length: 5_000 }, (_, i) => ({ field: `f${i}`, message: 'is bad' }))
  const { problem } = toProblem(invalid(fields), context, 'http://h')
  expect(problem.errors).toEqual(fields.slice(0, 100))
  expect(problem.detail).toBe('bad fields: f0, f1, f2, f3, f4, f5, f6, f7, f8, f9 and 4990 more')
})

test('scripts of pages receive a challenge for which browsers show no login dialog', () => {
  const error = domainError('unauthenticated', 'KEY_REQUIRED', 'an API key is required')
  const challengeFor = (isFromScript: boolean) => toProblem(error, { ...context, isFromScript }, 'http://h').headers['WWW-Authenticate']
  expect([challengeFor(false), challengeFor(true)]).toEqual(['Basic realm="Vitascope", charset="UTF-8"', 'Bearer realm="Vitascope"'])
})
