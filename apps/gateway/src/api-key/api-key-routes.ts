import { createHash, timingSafeEqual } from 'node:crypto'
import { DomainError } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import type { ListApiKeysRequest } from '@vitascope/proto/auth/v1/api_key'
import { z } from 'zod'
import type { Caller } from '../caller.ts'
import { expiry, id, list, pathPart, text } from '../fields.ts'
import { isSystemCaller } from '../organisation-rule.ts'
import { collectRows, nextLink, pageQuery } from '../pages.ts'
import { given, shown } from '../public-form.ts'
import { withPublicNames } from '../public-names.ts'
import { Reply, route } from '../route.ts'
import type { Services } from '../services.ts'
import {
  AccessList,
  accessListView,
  indexResources,
  KeyAccess,
  KeysOfOrganisation,
  KeysOfUser,
  keyAccessView,
  keysOfOrganisationView,
  keysOfUserView,
  NewKey,
  newKeyView,
} from './api-key-view.ts'

const apiKey = pathPart({ description: 'The key: a secret.', example: 'vs_…' })

export const getApiKey = route({
  get: ['/apikey/:apiKey'],
  section: 'API keys',
  access: 'user',
  summary: 'Read what a key may do',
  description: 'A user reads only the key that it calls with.',
  params: z.object({ apiKey }),
  answer: KeyAccess,
  refusals: { own_key_only: 'a user reads only the key that it calls with' },
  async handle({ params }, { caller, services, call }) {
    onlyOwnKey(caller, params.apiKey)
    const found = await services.apiKeys.getApiKey({ key: params.apiKey }, call)
    return keyAccessView(given(found.apiKey, 'key'))
  },
})

export const listResources = route({
  get: ['/apikey/acl-list'],
  section: 'API keys',
  access: 'system',
  summary: 'List the resources that a key may be given',
  answer: AccessList,
  async handle(_, { services, call }) {
    const { resources } = await services.accessList.listResources({}, call)
    return accessListView(resources)
  },
})

export const listKeysOfUser = route({
  get: ['/apikey/user/:userId', '/apikey/user_id/:userId'],
  section: 'API keys',
  access: 'system',
  summary: 'List the keys of a user',
  params: z.object({ userId: id('user') }),
  query: z.object(pageQuery),
  answer: KeysOfUser,
  async handle({ params, query }, { services, call, publicUrl }) {
    const { keys, index, more } = await listKeys(services, { $case: 'userId', value: params.userId }, query, call)
    const headers = nextLink(publicUrl, `/apikey/user/${params.userId}`, { ...query, more })
    return new Reply(keysOfUserView(params.userId, keys, index), { headers })
  },
})

export const listKeysOfOrganisation = route({
  get: ['/apikey/organisation/:organisationId'],
  section: 'API keys',
  access: 'system',
  summary: 'List the keys of an organisation’s users',
  params: z.object({ organisationId: id('organisation') }),
  query: z.object(pageQuery),
  answer: KeysOfOrganisation,
  async handle({ params, query }, { services, call, publicUrl }) {
    const { keys, index, more } = await listKeys(services, { $case: 'organisationId', value: params.organisationId }, query, call)
    const headers = nextLink(publicUrl, `/apikey/organisation/${params.organisationId}`, { ...query, more })
    return new Reply(keysOfOrganisationView(keys, index), { headers })
  },
})

export const createApiKey = route({
  post: ['/apikey/:userId/generate'],
  section: 'API keys',
  access: 'system',
  summary: 'Give a user a new key',
  params: z.object({ userId: id('user') }),
  payload: z.strictObject({
    application_name: text(255, { min: 1 }, { description: 'What the key is for.', example: 'Newsroom uploader' }),
    resources: list(
      text(100, { min: 1 }),
      { max: 1_000 },
      { description: 'Names from the access list; `[]` gives a key without any.', example: ['video::get', 'video::post'] },
    ),
    expiry_date: expiry({
      description: 'From then on the key is invalid; left out, it never is. GMT, UTC, Z, ±HH:MM or an IANA name.',
    }).optional(),
  }),
  answer: NewKey,
  async handle({ params, payload }, { services, call }) {
    const request = {
      userId: params.userId,
      applicationName: payload.application_name,
      resources: [...new Set(payload.resources)],
      expireTime: payload.expiry_date ?? undefined,
    }
    const created = await withPublicNames({ expire_time: 'expiry_date' }, services.apiKeys.createApiKey(request, call))
    return newKeyView(given(created.apiKey, 'key'))
  },
})

export const regenerateApiKey = route({
  put: ['/apikey/:apiKey/regenerate'],
  section: 'API keys',
  access: 'system',
  summary: 'Replace the value of a key',
  description: 'The old value stops working within 5 s; all else about the key is kept.',
  params: z.object({ apiKey }),
  answer: z.object({
    new_key: shown.text('The key from now on: a secret.', 'vs_…'),
    old_key: shown.text('The value that stops working.', 'vs_…'),
  }),
  async handle({ params }, { services, call }) {
    const regenerated = await services.apiKeys.regenerateApiKey({ key: params.apiKey }, call)
    return { new_key: given(regenerated.apiKey, 'key').value, old_key: params.apiKey }
  },
})

export const revokeApiKey = route({
  delete: ['/apikey/:apiKey'],
  section: 'Added',
  access: 'super',
  summary: 'Revoke a key for good',
  description: 'It stops working within 5 s. A super user revokes keys of its organisation.',
  params: z.object({ apiKey }),
  answer: z.object({ deleted: z.literal(true) }),
  async handle({ params }, { services, call }) {
    await services.apiKeys.revokeApiKey({ key: params.apiKey }, call)
    return { deleted: true as const }
  },
})

export const apiKeyRoutes = [getApiKey, listResources, listKeysOfUser, listKeysOfOrganisation, createApiKey, regenerateApiKey, revokeApiKey]

async function listKeys(services: Services, owner: ListApiKeysRequest['owner'], query: { start: number; limit: number }, call: Call) {
  const [{ rows, more }, { resources }] = await Promise.all([
    collectRows({ ...query, part: 200 }, async (page) => {
      const { apiKeys, nextPageToken } = await services.apiKeys.listApiKeys({ owner, ...page }, call)
      return { rows: apiKeys, nextPageToken }
    }),
    services.accessList.listResources({}, call),
  ])
  return { keys: rows, index: indexResources(resources), more }
}

function onlyOwnKey(caller: Caller, key: string): void {
  if (isSystemCaller(caller) || (caller.kind === 'user' && isSameSecret(caller.key, key))) return
  throw new DomainError('forbidden', 'OWN_KEY_ONLY', 'a user reads only the key that it calls with')
}

/** Takes the same time wherever the two begin to differ. */
function isSameSecret(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => createHash('sha256').update(text).digest())
  return a !== undefined && b !== undefined && timingSafeEqual(a, b)
}
