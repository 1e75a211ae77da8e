import { describe, expect, test } from '@jest/globals'
import type { Principal } from '@vitascope/grpc'
import { organisationFor, requireService, requireSystem, scopeOf } from './visibility.ts'

const user = (userType: 'uploader' | 'standard' | 'system', organisationId = '5'): Principal => ({
  kind: 'user',
  keyId: '1',
  userId: '2',
  organisationId,
  userType,
})

test.each([
  ['uploaders see their organisation', user('uploader'), '5'],
  ['super users see their organisation', user('standard'), '5'],
  ['system users see all', user('system', '1'), null],
])('%s', (_, principal, scope) => {
  expect(scopeOf(principal)).toBe(scope)
})

test.each([
  ['guests', { kind: 'guest' }, 'KEY_REQUIRED'],
  ['services', { kind: 'service', service: 'encoding' }, 'USERS_ONLY'],
] as const)('%s see no records', (_, principal, reason) => {
  expect(() => scopeOf(principal)).toThrow(expect.objectContaining({ reason }))
})

describe('internal calls', () => {
  test('are for services', () => {
    expect(() => requireService({ kind: 'service', service: 'encoding' })).not.toThrow()
    for (const principal of [{ kind: 'guest' } as const, user('standard'), user('system')]) {
      expect(() => requireService(principal)).toThrow(expect.objectContaining({ kind: 'forbidden' }))
    }
  })
  test('system calls are for system users', () => {
    expect(() => requireSystem(user('system'))).not.toThrow()
    expect(() => requireSystem(user('standard'))).toThrow(expect.objectContaining({ reason: 'SYSTEM_ONLY' }))
  })
})

test('a named organisation is taken from system users only', () => {
  expect(organisationFor(user('system'), '9')).toBe('9')
  expect(organisationFor(user('system'), '')).toBeUndefined()
  expect(organisationFor(user('uploader'), '')).toBe('5')
  expect(organisationFor(user('uploader'), '5')).toBe('5')
  expect(() => organisationFor(user('uploader'), '9')).toThrow(expect.objectContaining({ reason: 'FOREIGN_ORGANISATION' }))
})
