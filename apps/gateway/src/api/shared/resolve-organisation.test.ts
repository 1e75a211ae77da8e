import { describe, expect, test } from '@jest/globals'
import type { UserKind } from '@vitascope/grpc'
import type { Caller } from '../../server/route/caller.ts'
import { queriedOrganisation, requestedOrganisation, requiredOrganisation } from './resolve-organisation.ts'

function buildCaller(userType: UserKind, organisationId: string): Caller {
  return { kind: 'user', keyId: '1', userId: '1', organisationId, userType, resources: new Set(), key: '' }
}

const foreign = expect.objectContaining({ kind: 'forbidden', reason: 'FOREIGN_ORGANISATION' })

describe.each(['uploader', 'standard'] as const)('a user of type %s', (type) => {
  const caller = buildCaller(type, '2')

  test('uses its own organisation, whether or not the request has its id', () => {
    expect(requestedOrganisation(caller, '2')).toBe('2')
    expect(queriedOrganisation(caller, undefined)).toBe('2')
    expect(requiredOrganisation(caller, undefined)).toBe('2')
  })

  test.each([['3'], ['999999'], ['abc'], [''], ['02'], ['2 ']])('may not use organisation %p, even if it does not exist', (named) => {
    for (const rule of [requestedOrganisation, queriedOrganisation, requiredOrganisation]) {
      expect(() => rule(caller, named)).toThrow(foreign)
    }
  })
})

describe('a system caller', () => {
  const caller = buildCaller('system', '1')

  test('may name any organisation, and its existence is not checked here', () => {
    expect(requestedOrganisation(caller, '2')).toBe('2')
    expect(requestedOrganisation(caller, 'abc')).toBe('abc')
    expect(queriedOrganisation(caller, undefined)).toBeUndefined()
  })

  test('gets an error for a malformed id in a query, and for a missing required id', () => {
    const bad = expect.objectContaining({ kind: 'invalid', fields: [expect.objectContaining({ field: 'organisation_id' })] })
    expect(() => queriedOrganisation(caller, 'abc')).toThrow(bad)
    expect(() => requiredOrganisation(caller, undefined)).toThrow(bad)
  })
})

test('a guest has no organisation', () => {
  expect(() => requestedOrganisation({ kind: 'guest' }, '2')).toThrow(expect.objectContaining({ kind: 'unauthenticated' }))
})
