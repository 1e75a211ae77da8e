import { expect, test } from '@jest/globals'
import { readEnvironment } from '@vitascope/config'
import { readOidcSettings } from './oidc-config.ts'

const PROVIDER = { VITASCOPE_OIDC_ISSUER: 'https://id.example.org/realm', VITASCOPE_OIDC_CLIENT_ID: 'vitascope' }

function read(env: Record<string, string>) {
  const reader = readEnvironment(env)
  const settings = readOidcSettings(reader)
  reader.check()
  return settings
}

test('there is no provider by default', () => {
  expect(read({})).toBeUndefined()
})

test('groups have user types, and unknown users are rejected by default', () => {
  const settings = read({ ...PROVIDER, VITASCOPE_OIDC_USER_TYPES: 'admins=standard,a=b=uploader' })
  expect(settings).toEqual({
    issuer: 'https://id.example.org/realm',
    clientId: 'vitascope',
    clientSecret: undefined,
    groupsClaim: 'groups',
    userTypes: new Map([
      ['admins', 'standard'],
      ['a=b', 'uploader'],
    ]),
    organisationId: undefined,
  })
})

test.each([
  ['an issuer without a client', { VITASCOPE_OIDC_CLIENT_ID: '' }, 'requires VITASCOPE_OIDC_CLIENT_ID'],
  ['an issuer without TLS', { VITASCOPE_OIDC_ISSUER: 'http://id.example.org' }, 'must begin with https://'],
  ['a group that creates system users', { VITASCOPE_OIDC_USER_TYPES: 'admins=system' }, 'GROUP=uploader'],
  ['a type without a group', { VITASCOPE_OIDC_USER_TYPES: '=uploader' }, 'GROUP=uploader'],
  ['an invalid organisation', { VITASCOPE_OIDC_ORGANISATION: 'x' }, 'must be an id'],
])('%s is rejected', (_, change, message) => {
  expect(() => read({ ...PROVIDER, ...change })).toThrow(message)
})

test('loopback addresses may lack TLS', () => {
  expect(read({ ...PROVIDER, VITASCOPE_OIDC_ISSUER: 'http://127.0.0.1:9000' })?.issuer).toBe('http://127.0.0.1:9000')
})
