import type { Resource } from '@vitascope/proto/auth/v1/access_list'
import type { ApiKey } from '@vitascope/proto/auth/v1/api_key'
import { z } from 'zod'
import { formatTimestamp } from '../dates.ts'
import { shown } from '../public-form.ts'

const levels = z.array(z.enum(['user', 'admin'])).meta({
  description:
    '`["user", "admin"]` for what keys of every user may hold, `["admin"]` for what only those of super users and system users may.',
  example: ['user', 'admin'],
})
const aclId = shown.int('Number of the resource in the access list.', 12)
const resourceName = z.string().meta({ description: 'First path segment and verb.', example: 'video::post' })
const expires = z
  .string()
  .nullable()
  .meta({ description: 'From then on the key is invalid; null for never.', example: '2030-12-31 23:59:59 GMT' })
const lastUsed = z
  .string()
  .nullable()
  .meta({ description: 'When it was last used, to a minute or two; null for never.', example: '2030-12-31 23:59:59 GMT' })
const applicationName = shown.text('What the key is for.', 'Newsroom uploader')
const keyShown = shown.text('The key: a secret.', 'vs_…')

export const AccessList = z
  .record(z.string(), z.object({ id: aclId, levels, resource: resourceName }))
  .meta({ description: 'Every resource that a key may be given, by its number.' })

export const KeyAccess = z.object({
  acl: z.array(resourceName).meta({ description: 'What the key may do.' }),
  key: keyShown,
  organisation_id: shown.id('organisation'),
  user_id: shown.id('user'),
})

export const KeysOfUser = z.object({
  acl: z
    .record(
      z.string(),
      z
        .object({
          application_name: applicationName,
          expires,
          last_used: lastUsed,
          resources: z.record(z.string(), z.object({ acl_id: aclId, levels })),
        })
        .nullable(),
    )
    .meta({ description: 'By key; null for a key without any resource.' }),
  user_id: shown.id('user'),
})

export const KeysOfOrganisation = z
  .record(
    z.string(),
    z.record(
      z.string(),
      z
        .object({
          expires,
          last_used: lastUsed,
          resources: z.record(z.string(), z.object({ acl_id: aclId, application_name: applicationName, levels })),
        })
        .nullable(),
    ),
  )
  .meta({ description: 'By user id, then by key; null for a key without any resource.' })

export const NewKey = z.object({
  expires,
  key: keyShown,
  application_name: applicationName,
  resources: z.array(resourceName),
  user_id: shown.id('user'),
})

/** The access list by name. */
export type ResourceIndex = ReadonlyMap<string, Resource>

export function indexResources(resources: readonly Resource[]): ResourceIndex {
  return new Map(resources.map((resource) => [resource.name, resource]))
}

export function accessListView(resources: readonly Resource[]): z.input<typeof AccessList> {
  return Object.fromEntries(
    resources.map((resource) => [resource.aclId, { id: resource.aclId, levels: levelsOf(resource), resource: resource.name }]),
  )
}

export function keyAccessView(key: ApiKey): z.input<typeof KeyAccess> {
  return { acl: key.resources, key: key.value, organisation_id: key.organisationId, user_id: key.userId }
}

export function newKeyView(key: ApiKey): z.input<typeof NewKey> {
  return {
    expires: momentText(key.expireTime),
    key: key.value,
    application_name: key.applicationName,
    resources: key.resources,
    user_id: key.userId,
  }
}

export function keysOfUserView(userId: string, keys: readonly ApiKey[], index: ResourceIndex): z.input<typeof KeysOfUser> {
  const acl = keys.map((key) => [key.value, key.resources.length === 0 ? null : keyOfUserView(key, index)])
  return { acl: Object.fromEntries(acl), user_id: userId }
}

export function keysOfOrganisationView(keys: readonly ApiKey[], index: ResourceIndex): z.input<typeof KeysOfOrganisation> {
  const users = Map.groupBy(keys, (key) => key.userId)
  return Object.fromEntries(
    [...users].map(([userId, own]) => [
      userId,
      Object.fromEntries(own.map((key) => [key.value, key.resources.length === 0 ? null : keyOfOrganisationView(key, index)])),
    ]),
  )
}

function keyOfUserView(key: ApiKey, index: ResourceIndex) {
  const resources = listed(key, index).map((resource) => [resource.name, { acl_id: resource.aclId, levels: levelsOf(resource) }])
  return {
    application_name: key.applicationName,
    expires: momentText(key.expireTime),
    last_used: momentText(key.lastUsedTime),
    resources: Object.fromEntries(resources),
  }
}

function keyOfOrganisationView(key: ApiKey, index: ResourceIndex) {
  const resources = listed(key, index).map((resource) => [
    resource.name,
    { acl_id: resource.aclId, application_name: key.applicationName, levels: levelsOf(resource) },
  ])
  return { expires: momentText(key.expireTime), last_used: momentText(key.lastUsedTime), resources: Object.fromEntries(resources) }
}

/** A name that the access list has not is none that a key can use. */
function listed(key: ApiKey, index: ResourceIndex): Resource[] {
  return key.resources.flatMap((name) => index.get(name) ?? [])
}

function levelsOf(resource: Resource): ('user' | 'admin')[] {
  return resource.openToUsers ? ['user', 'admin'] : ['admin']
}

function momentText(time: Date | undefined): string | null {
  return time === undefined ? null : `${formatTimestamp(time)} GMT`
}
