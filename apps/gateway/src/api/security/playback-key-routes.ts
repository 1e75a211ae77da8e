import { invalid } from '@vitascope/errors'
import { TOKEN_ALGORITHMS } from '@vitascope/playback-policy'
import { PlaybackKey } from '@vitascope/proto/catalogue/v1/playback_key'
import { z } from 'zod'
import { route } from '../../server/route/route.ts'
import { field, reject } from '../../server/schema/field.ts'
import { flag, id, text } from '../../server/schema/fields.ts'
import { formatOptionalTimestamp, required, schema } from '../../server/schema/response-format.ts'
import { requestedOrganisation } from '../shared/resolve-organisation.ts'

const section = 'Playback keys'
const keysPath = '/organisation/:organisationId/playback-keys'
const keyParams = z.object({ organisationId: id('organisation'), keyId: id('key') })
const alternative = 'keys of users can list the playback keys'
const applies = 'Delivery applies the change within 5 s.'

const name = text(100, {}, { description: 'Name for people.', example: 'Web site, 2030' })
const active = flag({ description: '`0`: tokens of the key are rejected. At most two keys can be active.' })
const publicKey = field(
  (value) => {
    if (typeof value === 'string') return value
    const isJwk = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isJwk ? JSON.stringify(value) : reject('must be a public key in PEM or a JWK')
  },
  z.string().meta({
    description:
      'Public key in PEM (`BEGIN PUBLIC KEY`), or a JWK as an object or as text: RSA with 2,048 to 4,096 bits for RS256, P-256 for ES256, Ed25519 for EdDSA. ' +
      'Private keys are rejected.',
    maxLength: 5_000,
    example: '-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n',
  }),
)

const PlaybackKeyResponse = z.object({
  id: schema.id('key'),
  key_id: schema.id('key').meta({ description: 'The `kid` in the header of tokens that are signed with the key.' }),
  organisation_id: schema.id('organisation'),
  name: schema.text('Name for people.', 'Web site, 2030'),
  algorithm: z.enum(TOKEN_ALGORITHMS).meta({ description: 'The `alg` of its tokens.' }),
  public_key: schema.text('SPKI in PEM.', '-----BEGIN PUBLIC KEY-----…'),
  active: schema.bool('Whether its tokens are accepted.'),
  created: z.string().meta({ description: 'Time of creation. UTC.', example: '2030-12-31 23:59:59' }),
})

const tooManyActive = { too_many_active_keys: 'Two other keys are active: deactivate one first.' }

export const listPlaybackKeys = route({
  get: [keysPath],
  operationId: 'listPlaybackKeys',
  section,
  access: 'user',
  summary: 'List the playback keys of an organisation',
  description: 'Returns all public keys with which tokens for videos of the organisation are verified, oldest first.',
  params: z.object({ organisationId: id('organisation') }),
  response: z.array(PlaybackKeyResponse),
  async handle({ params }, { caller, services, call }) {
    const { keys } = await services.playbackKeys.listPlaybackKeys(
      { organisationId: requestedOrganisation(caller, params.organisationId) },
      call,
    )
    return keys.map(playbackKeyResponse)
  },
})

export const createPlaybackKey = route({
  post: [keysPath],
  operationId: 'createPlaybackKey',
  section,
  access: 'super',
  alternative,
  summary: 'Register a playback key',
  description: `Stores a public key. Your servers sign tokens with the private key, which the platform never has. ${applies}`,
  status: 201,
  params: z.object({ organisationId: id('organisation') }),
  payload: z.strictObject({ name: name.default(''), public_key: publicKey, active: active.default(true) }),
  response: PlaybackKeyResponse,
  errorCodes: {
    ...tooManyActive,
    playback_keys_full: 'The organisation already has 10 keys: delete one first.',
    playback_key_exists: 'The organisation already has this public key.',
  },
  async handle({ params, payload }, { caller, services, call }) {
    const organisationId = requestedOrganisation(caller, params.organisationId)
    const request = { organisationId, name: payload.name, publicKey: payload.public_key, active: payload.active }
    const { key } = await services.playbackKeys.createPlaybackKey(request, call)
    return playbackKeyResponse(required(key, 'key'))
  },
})

export const updatePlaybackKey = route({
  patch: [`${keysPath}/:keyId`],
  operationId: 'updatePlaybackKey',
  section,
  access: 'super',
  alternative,
  summary: 'Rename or deactivate a playback key',
  description: `Changes only the fields that are sent. ${applies}`,
  params: keyParams,
  payload: z.strictObject({ name: name.optional(), active: active.optional() }),
  record: PlaybackKeyResponse,
  docs: { example: { active: false } },
  response: PlaybackKeyResponse,
  errorCodes: tooManyActive,
  async handle({ params, payload }, { caller, services, call }) {
    const organisationId = requestedOrganisation(caller, params.organisationId)
    const updateMask = Object.keys(payload)
    if (updateMask.length === 0) throw invalid([{ field: 'payload', message: 'must have name or active' }])
    const key = PlaybackKey.create({ keyId: params.keyId, name: payload.name ?? '', active: payload.active ?? false })
    return playbackKeyResponse(
      required((await services.playbackKeys.updatePlaybackKey({ key, updateMask, organisationId }, call)).key, 'key'),
    )
  },
})

export const deletePlaybackKey = route({
  delete: [`${keysPath}/:keyId`],
  operationId: 'deletePlaybackKey',
  section,
  access: 'super',
  alternative,
  summary: 'Delete a playback key',
  description: `Deletes a key. Its tokens are rejected. ${applies}`,
  params: keyParams,
  response: z.object({ deleted: z.literal(true) }),
  async handle({ params }, { caller, services, call }) {
    const organisationId = requestedOrganisation(caller, params.organisationId)
    await services.playbackKeys.deletePlaybackKey({ keyId: params.keyId, organisationId }, call)
    return { deleted: true as const }
  },
})

function playbackKeyResponse(key: PlaybackKey): z.input<typeof PlaybackKeyResponse> {
  const algorithm = TOKEN_ALGORITHMS.find((known) => known === key.algorithm)
  return {
    id: key.keyId,
    key_id: key.keyId,
    organisation_id: key.organisationId,
    name: key.name,
    algorithm: required(algorithm, 'algorithm'),
    public_key: key.publicKey,
    active: key.active,
    created: formatOptionalTimestamp(required(key.createTime, 'createTime')),
  }
}

export const playbackKeyRoutes = [listPlaybackKeys, createPlaybackKey, updatePlaybackKey, deletePlaybackKey]
