import { describe, expect, test } from '@jest/globals'
import type { UserKind } from '@vitascope/grpc'
import type { Caller } from './caller.ts'
import { namedOrganisation, queriedOrganisation, requiredOrganisation } from './organisation-rule.ts'

function aCaller(userType: UserKind, organisationId: string): Caller {
  return { kind: 'user', keyId: '1', userId: '1', organisationId, userType, resources: new Set(), key: '' }
}

const foreign = expect.objectContaining({ kind: 'forbidden', reason: 'FOREIGN_ORGANISATION' })

describe.each(['uploader', 'standard'] as const)('a user of type %s', (type) => {
  const caller = aCaller(type, '2')

  test('works in its own organisation, named or not', () => {
    expect(namedOrganisation(caller, '2')).toBe('2')
    expect(queriedOrganisation(caller, undefined)).toBe('2')
    expect(requiredOrganisation(caller, undefined)).toBe('2')
  })

  test.each([['3'], ['999999'], ['abc'], [''], ['02'], ['2 ']])('is refused %p, whether or not it exists', (named) => {
    for (const rule of [namedOrganisation, queriedOrganisation, requiredOrganisation]) {
      expect(() => rule(caller, named)).toThrow(foreign)
    }
  })
})

describe('a system caller', () => {
  const caller = aCaller('system', '1')

  test('reaches any, and the service says which there are', () => {
    expect(namedOrganisation(caller, '2')).toBe('2')
    expect(namedOrganisation(caller, 'abc')).toBe('abc')
    expect(queriedOrganisation(caller, undefined)).toBeUndefined()
  })

  test('is told of a malformed one in a query, and of a missing one where one is needed', () => {
    const bad = expect.objectContaining({ kind: 'invalid', fields: [expect.objectContaining({ field: 'organisation_id' })] })
    expect(() => queriedOrganisation(caller, 'abc')).toThrow(bad)
    expect(() => requiredOrganisation(caller, undefined)).toThrow(bad)
  })
})

test('a guest has none', () => {
  expect(() => namedOrganisation({ kind: 'guest' }, '2')).toThrow(expect.objectContaining({ kind: 'unauthenticated' }))
})
