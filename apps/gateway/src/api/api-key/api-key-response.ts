import type { Resource } from '@vitascope/proto/auth/v1/access_list'
import type { ApiKey } from '@vitascope/proto/auth/v1/api_key'
import { z } from 'zod'
import { formatTimestamp } from '../../server/schema/dates.ts'
import { schema } from '../../server/schema/response-format.ts'

const levels = z.array(z.enum(['user', 'admin'])).meta({
  description:
    'User levels whose keys may have the resource. `["user", "admin"]`: keys of all users. `["admin"]`: only keys of super users ' +
    'and system users.',
  example: ['user', 'admin'],
})
const aclId = schema.int('Number of the resource in the access list.', 12)
const resourceName = z.string().meta({ description: 'First path segment and HTTP method.', example: 'video::post' })
const expires = z
  .string()
  .nullable()
  .meta({ description: 'Time from which the key is invalid. null if it does not expire.', example: '2030-12-31 23:59:59 GMT' })
const lastUsedField = z.string().nullable().meta({
  description: 'Time of last use, accurate to one or two minutes. null if the key was never used.',
  example: '2030-12-31 23:59:59 GMT',
})
const applicationName = schema.text('Purpose of the key.', 'Newsroom uploader')
const apiKeyField = schema.text('The API key. It is a secret.', 'vs_…')

export const AccessListResponse = z
  .record(z.string(), z.object({ id: aclId, levels, resource: resourceName }))
  .meta({ description: 'All resources that a key may have, by number.' })

export const KeyAccessResponse = z.object({
  acl: z.array(resourceName).meta({ description: 'Resources that the key may access.' }),
  key: apiKeyField,
  organisation_id: schema.id('organisation'),
  user_id: schema.id('user'),
})

export const KeysOfUserResponse = z.object({
  acl: z
    .record(
      z.string(),
      z
        .object({
          application_name: applicationName,
          expires,
          last_used: lastUsedField,
          resources: z.record(z.string(), z.object({ acl_id: aclId, levels })),
        })
        .nullable(),
    )
    .meta({ description: 'Keys of the user, by key. null for a key without resources.' }),
  user_id: schema.id('user'),
})

export const KeysOfOrganisationResponse = z
  .record(
    z.string(),
    z.record(
      z.string(),
      z
        .object({
          expires,
          last_used: lastUsedField,
          resources: z.record(z.string(), z.object({ acl_id: aclId, application_name: applicationName, levels })),
        })
        .nullable(),
    ),
  )
  .meta({ description: 'Keys by user id, then by key. null for a key without resources.' })

export const NewKeyResponse = z.object({
  expires,
  key: apiKeyField,
  application_name: applicationName,
  resources: z.array(resourceName),
  user_id: schema.id('user'),
})

/** The access list, indexed by resource name. */
export type ResourceIndex = ReadonlyMap<string, Resource>

export function indexResources(resources: readonly Resource[]): ResourceIndex {
  return new Map(resources.map((resource) => [resource.name, resource]))
}

export function accessListResponse(resources: readonly Resource[]): z.input<typeof AccessListResponse> {
  return Object.fromEntries(
    resources.map((resource) => [resource.aclId, { id: resource.aclId, levels: listLevels(resource), resource: resource.name }]),
  )
}

export function keyAccessResponse(key: ApiKey): z.input<typeof KeyAccessResponse> {
  return { acl: key.resources, key: key.value, organisation_id: key.organisationId, user_id: key.userId }
}

export function newKeyResponse(key: ApiKey): z.input<typeof NewKeyResponse> {
  return {
    expires: momentText(key.expireTime),
    key: key.value,
    application_name: key.applicationName,
    resources: key.resources,
    user_id: key.userId,
  }
}

export function keysOfUserResponse(userId: string, keys: readonly ApiKey[], index: ResourceIndex): z.input<typeof KeysOfUserResponse> {
  const acl = keys.map((key) => [key.value, key.resources.length === 0 ? null : keyOfUserResponse(key, index)])
  return { acl: Object.fromEntries(acl), user_id: userId }
}

export function keysOfOrganisationResponse(keys: readonly ApiKey[], index: ResourceIndex): z.input<typeof KeysOfOrganisationResponse> {
  const users = Map.groupBy(keys, (key) => key.userId)
  return Object.fromEntries(
    [...users].map(([userId, userKeys]) => [
      userId,
      Object.fromEntries(userKeys.map((key) => [key.value, key.resources.length === 0 ? null : keyOfOrganisationResponse(key, index)])),
    ]),
  )
}

function keyOfUserResponse(key: ApiKey, index: ResourceIndex) {
  const resources = listResources(key, index).map((resource) => [resource.name, { acl_id: resource.aclId, levels: listLevels(resource) }])
  return {
    application_name: key.applicationName,
    expires: momentText(key.expireTime),
    last_used: momentText(key.lastUsedTime),
    resources: Object.fromEntries(resources),
  }
}

function keyOfOrganisationResponse(key: ApiKey, index: ResourceIndex) {
  const resources = listResources(key, index).map((resource) => [
    resource.name,
    { acl_id: resource.aclId, application_name: key.applicationName, levels: listLevels(resource) },
  ])
  return { expires: momentText(key.expireTime), last_used: momentText(key.lastUsedTime), resources: Object.fromEntries(resources) }
}

/**
 * Returns the resources of a key. A name that is missing from the access list grants nothing and is
 * omitted.
 */
function listResources(key: ApiKey, index: ResourceIndex): Resource[] {
  return key.resources.flatMap((name) => index.get(name) ?? [])
}

function listLevels(resource: Resource): ('user' | 'admin')[] {
  return resource.openToUsers ? ['user', 'admin'] : ['admin']
}

function momentText(time: Date | undefined): string | null {
  return time === undefined ? null : `${formatTimestamp(time)} GMT`
}
