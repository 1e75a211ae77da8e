import { invalid } from '@vitascope/errors'
import { ThirdPartyTokenAttribute as Attribute, ThirdPartyToken } from '@vitascope/proto/auth/v1/third_party_token'
import { isStorable } from '@vitascope/request'
import { z } from 'zod'
import { route } from '../../server/route/route.ts'
import { field, reject } from '../../server/schema/field.ts'
import { clearable, id, idOrNone, jsonObject, oneOf, organisationIdField, text, timestamp } from '../../server/schema/fields.ts'
import { formatOptionalTimestamp, required, schema } from '../../server/schema/response-format.ts'
import { webAddress } from '../../server/schema/web-address.ts'
import { requestedOrganisation } from '../shared/resolve-organisation.ts'
import { ThirdPartyTokenResponse, thirdPartyTokenResponse } from './third-party-token-response.ts'

const section = 'Third-party OAuth tokens'
const recordId = z.object({ id: id('record') })

const details = {
  service_name: text(255, {}, { description: 'Name of the provider.', example: 'photoshare' }),
  called_by: text(255, {}, { description: 'Identifier that the calling service chooses.' }),
  username: text(255, {}, { description: 'User name at the provider.', example: 'ada' }),
  token: text(16_384, {}, { description: 'The token. It is a secret and is stored encrypted.' }),
  auth_url: webAddress(
    2_048,
    { paths: false },
    { description: 'http or https URL at which the provider authenticates.', example: 'https://photoshare.example/oauth' },
  ),
  other_data: jsonObject(65_536, { description: 'Any JSON object of at most 65,536 bytes, or its JSON text. It is stored encrypted.' }),
  date_expiry: clearable(timestamp({ description: 'Time at which the token expires at the provider. The platform only stores it.' })),
  user_id: idOrNone('user. The user must belong to the organisation'),
}

const names = { other_data_json: 'other_data', expire_time: 'date_expiry' }

export const getThirdPartyToken = route({
  get: ['/oauth/thirdparty/:id'],
  operationId: 'getThirdPartyToken',
  section,
  access: 'system',
  summary: 'Read a third-party token',
  description: 'Returns a token with its decrypted secrets.',
  // The response contains decrypted secrets, so reads are audited too.
  audited: true,
  params: recordId,
  response: ThirdPartyTokenResponse,
  errorCodes: { third_party_token_not_found: 'The token does not exist, or it was deleted.' },
  async handle({ params }, { services, call }) {
    const { thirdPartyToken } = await services.thirdPartyTokens.getThirdPartyToken({ thirdPartyTokenId: params.id }, call)
    return thirdPartyTokenResponse(required(thirdPartyToken, 'record'))
  },
})

const ATTRIBUTES = {
  id: Attribute.THIRD_PARTY_TOKEN_ATTRIBUTE_ID,
  organisation_id: Attribute.THIRD_PARTY_TOKEN_ATTRIBUTE_ORGANISATION_ID,
  service_name: Attribute.THIRD_PARTY_TOKEN_ATTRIBUTE_SERVICE_NAME,
  called_by: Attribute.THIRD_PARTY_TOKEN_ATTRIBUTE_CALLED_BY,
  username: Attribute.THIRD_PARTY_TOKEN_ATTRIBUTE_USERNAME,
  auth_url: Attribute.THIRD_PARTY_TOKEN_ATTRIBUTE_AUTH_URL,
  user_id: Attribute.THIRD_PARTY_TOKEN_ATTRIBUTE_USER_ID,
} as const
const WORDS = ['id', 'organisation_id', 'service_name', 'called_by', 'username', 'auth_url', 'user_id'] as const

/** Longer than any stored value, so that cutting a value cannot produce a stored one. */
const maxValueLength = 2_100

export const findThirdPartyToken = route({
  get: ['/oauth/thirdparty/attribute/:attribute/value/:value'],
  operationId: 'findThirdPartyToken',
  section,
  access: 'system',
  summary: 'Find a third-party token by value',
  description: 'Returns the newest token whose attribute has exactly this value. Deleted tokens are not found.',
  // The response contains decrypted secrets, so reads are audited too.
  audited: true,
  params: z.object({
    attribute: oneOf(WORDS, { description: 'Attribute that is compared.', example: 'service_name' }),
    value: field(
      (value) =>
        typeof value === 'string' && isStorable(value) ? value.slice(0, maxValueLength) : reject('must be well-formed Unicode without NUL'),
      z.string().meta({ description: 'Value of the attribute, percent-encoded.', example: 'photoshare' }),
    ),
  }),
  response: ThirdPartyTokenResponse,
  errorCodes: { third_party_token_not_found: 'No token has the value.' },
  async handle({ params }, { services, call }) {
    const request = { attribute: ATTRIBUTES[params.attribute], value: params.value }
    const { thirdPartyToken } = await services.thirdPartyTokens.findThirdPartyToken(request, call)
    return thirdPartyTokenResponse(required(thirdPartyToken, 'record'))
  },
})

const status = z.literal(1).meta({ description: 'The request succeeded.' })

export const createThirdPartyToken = route({
  post: ['/oauth/thirdparty'],
  operationId: 'createThirdPartyToken',
  section,
  access: 'user',
  summary: 'Store a third-party token',
  description: 'Stores a token of the caller’s own organisation. A system key may name any organisation.',
  payload: z.strictObject({
    organisation_id: organisationIdField(),
    service_name: details.service_name.default(''),
    called_by: details.called_by.default(''),
    username: details.username.default(''),
    token: details.token.default(''),
    auth_url: details.auth_url.default(''),
    other_data: details.other_data.default(''),
    date_expiry: details.date_expiry.default(null),
    user_id: details.user_id.default(''),
  }),
  status: 201,
  docs: { example: { organisation_id: '1', service_name: 'photoshare', token: 'a token of the service' } },
  response: z.object({ id: schema.id('record'), status, created: schema.timestamp('Time of creation.') }),
  errorCodes: { user_not_found: 'The organisation has no such user.' },
  publicNames: names,
  async handle({ payload }, { caller, services, call }) {
    const thirdPartyToken = toMessage({ ...payload, organisation_id: requestedOrganisation(caller, payload.organisation_id) })
    const created = await services.thirdPartyTokens.createThirdPartyToken({ thirdPartyToken }, call)
    return { id: created.thirdPartyTokenId, status: 1 as const, created: formatOptionalTimestamp(required(created.createTime, 'time')) }
  },
})

const changes = z.strictObject({
  organisation_id: organisationIdField({
    description: 'Id of the organisation. A system key may move the token to another organisation. Other keys may only name their own.',
  }).optional(),
  service_name: details.service_name.optional(),
  called_by: details.called_by.optional(),
  username: details.username.optional(),
  token: details.token.optional(),
  auth_url: details.auth_url.optional(),
  other_data: details.other_data.optional(),
  date_expiry: details.date_expiry.optional(),
  user_id: details.user_id.optional(),
})

export const updateThirdPartyToken = route({
  put: ['/oauth/thirdparty/:id'],
  operationId: 'updateThirdPartyToken',
  section,
  access: 'user',
  summary: 'Change a third-party token',
  description: 'Changes only the fields that are sent.',
  params: recordId,
  payload: changes,
  record: ThirdPartyTokenResponse,
  docs: { example: { token: 'a token of the service' } },
  response: z.object({ id: schema.id('record'), status, Updated: schema.timestamp('Time of the change.') }),
  errorCodes: {
    third_party_token_not_found: 'The token does not exist, it was deleted, or it belongs to another organisation.',
    user_not_found: 'The organisation has no such user.',
  },
  publicNames: names,
  async handle({ params, payload }, { caller, services, call }) {
    const fields = Object.keys(payload)
    if (fields.length === 0) throw invalid([{ field: 'payload', message: 'must have at least one field' }])
    if (payload.organisation_id !== undefined) requestedOrganisation(caller, payload.organisation_id)
    const thirdPartyToken = { ...toMessage(payload), thirdPartyTokenId: params.id }
    const updateMask = fields.map((name) => Object.entries(names).find(([, publicName]) => publicName === name)?.[0] ?? name)
    const updated = await services.thirdPartyTokens.updateThirdPartyToken({ thirdPartyToken, updateMask }, call)
    return { id: params.id, status: 1 as const, Updated: formatOptionalTimestamp(required(updated.updateTime, 'time')) }
  },
})

export const deleteThirdPartyToken = route({
  delete: ['/oauth/thirdparty/:id'],
  operationId: 'deleteThirdPartyToken',
  section,
  access: 'user',
  summary: 'Delete a third-party token',
  description: 'Deletes a token. It is not returned afterwards.',
  params: recordId,
  response: z.object({ id: schema.id('record'), status, Deleted: schema.timestamp('Time of deletion.') }),
  errorCodes: { third_party_token_not_found: 'The token does not exist, it is already deleted, or it belongs to another organisation.' },
  async handle({ params }, { services, call }) {
    const deleted = await services.thirdPartyTokens.deleteThirdPartyToken({ thirdPartyTokenId: params.id }, call)
    return { id: params.id, status: 1 as const, Deleted: formatOptionalTimestamp(required(deleted.deleteTime, 'time')) }
  },
})

export const thirdPartyTokenRoutes = [
  getThirdPartyToken,
  findThirdPartyToken,
  createThirdPartyToken,
  updateThirdPartyToken,
  deleteThirdPartyToken,
]

function toMessage(fields: z.output<typeof changes>): ThirdPartyToken {
  return ThirdPartyToken.create({
    organisationId: fields.organisation_id ?? '',
    serviceName: fields.service_name ?? '',
    calledBy: fields.called_by ?? '',
    username: fields.username ?? '',
    token: fields.token ?? '',
    authUrl: fields.auth_url ?? '',
    otherDataJson: fields.other_data ?? '',
    expireTime: fields.date_expiry ?? undefined,
    userId: fields.user_id ?? '',
  })
}
