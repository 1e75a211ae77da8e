import { createHash, timingSafeEqual } from 'node:crypto'
import { DomainError } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import { ApiKeyPreset, type ListApiKeysRequest } from '@vitascope/proto/auth/v1/api_key'
import { z } from 'zod'
import type { Services } from '../../clients/services.ts'
import type { Caller } from '../../server/route/caller.ts'
import { Reply } from '../../server/route/reply.ts'
import { route } from '../../server/route/route.ts'
import { type Clash, checked } from '../../server/schema/field.ts'
import { expiry, id, list, oneOf, pathPart, text } from '../../server/schema/fields.ts'
import { collectRows, nextLink, pageQuery } from '../../server/schema/pagination.ts'
import { required, schema } from '../../server/schema/response-format.ts'
import { isSystemCaller } from '../shared/resolve-organisation.ts'
import {
  AccessListResponse,
  accessListResponse,
  indexResources,
  KeyAccessResponse,
  KeysOfOrganisationResponse,
  KeysOfUserResponse,
  keyAccessResponse,
  keysOfOrganisationResponse,
  keysOfUserResponse,
  NewKeyResponse,
  newKeyResponse,
} from './api-key-response.ts'

const apiKey = pathPart({ description: 'The API key. It is a secret.', example: 'vs_…' })

export const getApiKey = route({
  get: ['/apikey/:apiKey'],
  operationId: 'getApiKey',
  section: 'API keys',
  access: 'user',
  summary: 'Read the permissions of a key',
  description: 'Returns the resources that the key may access. A user can read only the key that it authenticates with.',
  params: z.object({ apiKey }),
  response: KeyAccessResponse,
  errorCodes: { own_key_only: 'A user can read only the key that it authenticates with.' },
  async handle({ params }, { caller, services, call }) {
    requireOwnKey(caller, params.apiKey)
    const response = await services.apiKeys.getApiKey({ key: params.apiKey }, call)
    return keyAccessResponse(required(response.apiKey, 'key'))
  },
})

export const listResources = route({
  get: ['/apikey/acl-list'],
  operationId: 'listAclResources',
  section: 'API keys',
  access: 'system',
  summary: 'List the resources for keys',
  description: 'Returns the access list: every resource that a key may have.',
  response: AccessListResponse,
  async handle(_, { services, call }) {
    const { resources } = await services.accessList.listResources({}, call)
    return accessListResponse(resources)
  },
})

export const listKeysOfUser = route({
  // The response contains key values, so reads are audited too.
  audited: true,
  get: ['/apikey/user/:userId', '/apikey/user_id/:userId'],
  operationId: 'listUserApiKeys',
  section: 'API keys',
  access: 'system',
  summary: 'List the keys of a user',
  description: 'Returns all keys of a user with their resources.',
  params: z.object({ userId: id('user') }),
  query: z.object(pageQuery),
  response: KeysOfUserResponse,
  async handle({ params, query }, { services, call, publicUrl }) {
    const { keys, index, nextCursor } = await listKeys(services, { $case: 'userId', value: params.userId }, query, call)
    const headers = nextLink(publicUrl, `/apikey/user/${params.userId}`, { ...query, nextCursor })
    return new Reply(keysOfUserResponse(params.userId, keys, index), { headers })
  },
})

export const listKeysOfOrganisation = route({
  // The response contains key values, so reads are audited too.
  audited: true,
  get: ['/apikey/organisation/:organisationId'],
  operationId: 'listOrganisationApiKeys',
  section: 'API keys',
  access: 'system',
  summary: 'List the keys of an organisation',
  description: 'Returns the keys of all users of an organisation with their resources.',
  params: z.object({ organisationId: id('organisation') }),
  query: z.object(pageQuery),
  response: KeysOfOrganisationResponse,
  async handle({ params, query }, { services, call, publicUrl }) {
    const { keys, index, nextCursor } = await listKeys(services, { $case: 'organisationId', value: params.organisationId }, query, call)
    const headers = nextLink(publicUrl, `/apikey/organisation/${params.organisationId}`, { ...query, nextCursor })
    return new Reply(keysOfOrganisationResponse(keys, index), { headers })
  },
})

function findGrantClash(payload: { resources?: unknown; preset?: unknown }, invalidFields: ReadonlySet<PropertyKey>): Clash[] {
  const { resources, preset } = payload
  if (invalidFields.has('preset') || invalidFields.has('resources')) return []
  if ((resources === undefined) !== (preset === undefined)) return []
  const message = resources === undefined ? 'is required, or `preset`' : 'must not be sent together with `preset`'
  return [{ path: ['resources'], message }]
}

const PRESETS = {
  upload: ApiKeyPreset.API_KEY_PRESET_UPLOAD,
  playback: ApiKeyPreset.API_KEY_PRESET_PLAYBACK,
  read: ApiKeyPreset.API_KEY_PRESET_READ,
  admin: ApiKeyPreset.API_KEY_PRESET_ADMIN,
} as const

export const createApiKey = route({
  post: ['/apikey/:userId/generate'],
  operationId: 'createApiKey',
  section: 'API keys',
  access: 'system',
  summary: 'Create a key for a user',
  description: 'Returns a new key with the resources of a preset or of a list.',
  params: z.object({ userId: id('user') }),
  payload: checked(
    z.strictObject({
      application_name: text(255, { min: 1 }, { description: 'Purpose of the key.', example: 'Newsroom uploader' }),
      resources: list(
        text(100, { min: 1 }),
        { max: 1_000 },
        {
          description: 'Resource names from the access list, instead of `preset`. `[]` creates a key without resources.',
          example: ['video::get', 'video::post'],
        },
      ).optional(),
      preset: oneOf(['upload', 'playback', 'read', 'admin'], {
        description:
          'Named set of resources, of which the key gets those that its user may have. `upload`: upload and change videos, and follow their jobs. ' +
          '`playback`: read videos, create tokens and download URLs, send events. It has `video::post`, which uploads require too. `read`: all reads except those of secrets and of ' +
          'the work queue. `admin`: all resources, also those of later versions.',
        example: 'upload',
      }).optional(),
      expiry_date: expiry({
        description:
          'Time from which the key is invalid. If it is omitted, the key does not expire. The zone is GMT, UTC, Z, ±HH:MM or an IANA name.',
      }).optional(),
    }),
    findGrantClash,
  ),
  docs: { example: { application_name: 'Newsroom uploader', preset: 'upload' } },
  response: NewKeyResponse,
  publicNames: { expire_time: 'expiry_date' },
  async handle({ params, payload }, { services, call }) {
    const request = {
      userId: params.userId,
      applicationName: payload.application_name,
      resources: [...new Set(payload.resources)],
      preset: payload.preset && PRESETS[payload.preset],
      expireTime: payload.expiry_date ?? undefined,
    }
    const created = await services.apiKeys.createApiKey(request, call)
    return newKeyResponse(required(created.apiKey, 'key'))
  },
})

export const regenerateApiKey = route({
  put: ['/apikey/:apiKey/regenerate'],
  operationId: 'regenerateApiKey',
  section: 'API keys',
  access: 'system',
  summary: 'Replace the value of a key',
  description: 'Returns a new value for the key. The old value stops working within 5 s. All other properties of the key are kept.',
  params: z.object({ apiKey }),
  response: z.object({
    new_key: schema.text('New value of the key. It is a secret.', 'vs_…'),
    old_key: schema.text('Old value of the key, which stops working.', 'vs_…'),
  }),
  async handle({ params }, { services, call }) {
    const regenerated = await services.apiKeys.regenerateApiKey({ key: params.apiKey }, call)
    return { new_key: required(regenerated.apiKey, 'key').value, old_key: params.apiKey }
  },
})

export const revokeApiKey = route({
  delete: ['/apikey/:apiKey'],
  operationId: 'revokeApiKey',
  section: 'API keys',
  access: 'super',
  summary: 'Revoke a key',
  description: 'Permanently revokes a key. It stops working within 5 s. A super user may revoke keys of its own organisation.',
  params: z.object({ apiKey }),
  response: z.object({ deleted: z.literal(true) }),
  async handle({ params }, { services, call }) {
    await services.apiKeys.revokeApiKey({ key: params.apiKey }, call)
    return { deleted: true as const }
  },
})

export const apiKeyRoutes = [getApiKey, listResources, listKeysOfUser, listKeysOfOrganisation, createApiKey, regenerateApiKey, revokeApiKey]

async function listKeys(services: Services, owner: ListApiKeysRequest['owner'], query: { start: number; limit: number }, call: Call) {
  const [{ rows, nextCursor }, { resources }] = await Promise.all([
    collectRows({ ...query, maxPageSize: 200 }, async (page) => {
      const { apiKeys, nextPageToken } = await services.apiKeys.listApiKeys({ owner, ...page }, call)
      return { rows: apiKeys, nextPageToken }
    }),
    services.accessList.listResources({}, call),
  ])
  return { keys: rows, index: indexResources(resources), nextCursor }
}

function requireOwnKey(caller: Caller, key: string): void {
  if (isSystemCaller(caller) || (caller.kind === 'user' && isSameSecret(caller.key, key))) return
  throw new DomainError('forbidden', 'OWN_KEY_ONLY', 'a user can read only the key that it calls with')
}

/** Compares two secrets in constant time. */
function isSameSecret(left: string, right: string): boolean {
  const [a, b] = [left, right].map((text) => createHash('sha256').update(text).digest())
  return a !== undefined && b !== undefined && timingSafeEqual(a, b)
}
