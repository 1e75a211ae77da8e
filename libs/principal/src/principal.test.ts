import { expect, test } from '@jest/globals'
import type { Principal, UserKind } from '@vitascope/grpc'
import {
  canSee,
  getScope,
  isSystem,
  organisationFor,
  requireAuthenticated,
  requireService,
  requireSystem,
  requireSystemUser,
  requireUser,
} from './principal.ts'

const user = (userType: UserKind): Principal => ({ kind: 'user', keyId: '1', userId: '2', organisationId: '3', userType })
const callers = {
  guest: { kind: 'guest' },
  service: { kind: 'service', service: 'encoding' },
  uploader: user('uploader'),
  standard: user('standard'),
  system: user('system'),
} satisfies Record<string, Principal>

/** Returns the outcome of a check for each kind of caller: `ok`, or the reason of the error. */
function outcomes(check: (principal: Principal) => unknown): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(callers).map(([name, principal]) => {
      try {
        const value = check(principal)
        return [name, value === undefined ? 'ok' : value]
      } catch (error) {
        return [name, (error as { reason: string }).reason]
      }
    }),
  )
}

test('requireAuthenticated rejects guests only', () => {
  expect(outcomes(requireAuthenticated)).toEqual({ guest: 'KEY_REQUIRED', service: 'ok', uploader: 'ok', standard: 'ok', system: 'ok' })
})

test('requireService accepts services only', () => {
  const no = 'SERVICE_ONLY'
  expect(outcomes(requireService)).toEqual({ guest: no, service: 'ok', uploader: no, standard: no, system: no })
})

test('requireUser returns the user, and rejects guests and services', () => {
  expect(outcomes((principal) => requireUser(principal).userType)).toEqual({
    guest: 'KEY_REQUIRED',
    service: 'USERS_ONLY',
    uploader: 'uploader',
    standard: 'standard',
    system: 'system',
  })
})

test('services have system rights, except where a user is required', () => {
  const no = 'SYSTEM_ONLY'
  expect(outcomes(isSystem)).toEqual({ guest: false, service: true, uploader: false, standard: false, system: true })
  expect(outcomes(requireSystem)).toEqual({ guest: 'KEY_REQUIRED', service: 'ok', uploader: no, standard: no, system: 'ok' })
  expect(outcomes(requireSystemUser)).toEqual({ guest: 'KEY_REQUIRED', service: 'USERS_ONLY', uploader: no, standard: no, system: 'ok' })
})

test('the scope of a user is its organisation, that of a system user is all', () => {
  expect(outcomes(getScope)).toEqual({ guest: 'KEY_REQUIRED', service: 'USERS_ONLY', uploader: '3', standard: '3', system: null })
})

test('a user acts for its own organisation, a system user for the one that it names', () => {
  const errors = { guest: 'KEY_REQUIRED', service: 'USERS_ONLY' }
  expect(outcomes((caller) => organisationFor(caller, ''))).toEqual({ ...errors, uploader: '3', standard: '3', system: 'ok' })
  expect(outcomes((caller) => organisationFor(caller, '3'))).toEqual({ ...errors, uploader: '3', standard: '3', system: '3' })
  const foreign = 'FOREIGN_ORGANISATION'
  expect(outcomes((caller) => organisationFor(caller, '4'))).toEqual({ ...errors, uploader: foreign, standard: foreign, system: '4' })
})

test('an organisation is visible to its users, system users and services', () => {
  expect(outcomes((caller) => canSee(caller, '3'))).toEqual({ guest: false, service: true, uploader: true, standard: true, system: true })
  expect(outcomes((caller) => canSee(caller, '4'))).toEqual({ guest: false, service: true, uploader: false, standard: false, system: true })
})
