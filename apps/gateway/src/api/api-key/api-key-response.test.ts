import { expect, test } from '@jest/globals'
import { ApiKey } from '@vitascope/proto/auth/v1/api_key'
import {
  accessListResponse,
  indexResources,
  keyAccessResponse,
  keysOfOrganisationResponse,
  keysOfUserResponse,
  newKeyResponse,
} from './api-key-response.ts'

const resources = [
  { aclId: 1, name: 'video::get', openToUsers: true },
  { aclId: 2, name: 'user::post', openToUsers: false },
]
const index = indexResources(resources)

function buildKey(fields: Partial<ApiKey> = {}): ApiKey {
  return ApiKey.create({
    apiKeyId: '1',
    value: 'vs_one',
    userId: '7',
    organisationId: '2',
    applicationName: 'Newsroom',
    resources: ['video::get', 'user::post'],
    expireTime: new Date('2030-12-31T23:59:59Z'),
    lastUsedTime: new Date('2030-01-02T03:04:05Z'),
    ...fields,
  })
}

const bare = buildKey({ value: 'vs_bare', resources: [] })
const other = buildKey({ value: 'vs_other', userId: '8', resources: ['video::get'], expireTime: undefined, lastUsedTime: undefined })

test('the access list is keyed by resource number', () => {
  expect(accessListResponse(resources)).toEqual({
    1: { id: 1, levels: ['user', 'admin'], resource: 'video::get' },
    2: { id: 2, levels: ['admin'], resource: 'user::post' },
  })
})

test('the access response lists the resources of a key', () => {
  expect(keyAccessResponse(buildKey())).toEqual({ acl: ['video::get', 'user::post'], key: 'vs_one', organisation_id: '2', user_id: '7' })
})

test('the keys of a user are keyed by value; a key without resources is null', () => {
  expect(keysOfUserResponse('7', [buildKey(), bare], index)).toEqual({
    acl: {
      vs_one: {
        application_name: 'Newsroom',
        expires: '2030-12-31 23:59:59 GMT',
        last_used: '2030-01-02 03:04:05 GMT',
        resources: { 'video::get': { acl_id: 1, levels: ['user', 'admin'] }, 'user::post': { acl_id: 2, levels: ['admin'] } },
      },
      vs_bare: null,
    },
    user_id: '7',
  })
  expect(keysOfUserResponse('9', [], index)).toEqual({ acl: {}, user_id: '9' })
})

test('the keys of an organisation are keyed by user, then by value', () => {
  expect(keysOfOrganisationResponse([buildKey(), bare, other], index)).toEqual({
    7: {
      vs_one: {
        expires: '2030-12-31 23:59:59 GMT',
        last_used: '2030-01-02 03:04:05 GMT',
        resources: {
          'video::get': { acl_id: 1, application_name: 'Newsroom', levels: ['user', 'admin'] },
          'user::post': { acl_id: 2, application_name: 'Newsroom', levels: ['admin'] },
        },
      },
      vs_bare: null,
    },
    8: {
      vs_other: {
        expires: null,
        last_used: null,
        resources: { 'video::get': { acl_id: 1, application_name: 'Newsroom', levels: ['user', 'admin'] } },
      },
    },
  })
})

test('the response of a new key contains its value', () => {
  expect(newKeyResponse(other)).toEqual({
    expires: null,
    key: 'vs_other',
    application_name: 'Newsroom',
    resources: ['video::get'],
    user_id: '8',
  })
})
