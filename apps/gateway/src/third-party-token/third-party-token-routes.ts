import { invalid } from '@vitascope/errors'
import { ThirdPartyTokenAttribute as Attribute, ThirdPartyToken } from '@vitascope/proto/auth/v1/third_party_token'
import { z } from 'zod'
import { field, refuse } from '../field.ts'
import { clearable, id, idOrNone, jsonObject, oneOf, organisationIdField, text, timestamp } from '../fields.ts'
import { namedOrganisation } from '../organisation-rule.ts'
import { given, shown, timestampText } from '../public-form.ts'
import { withPublicNames } from '../public-names.ts'
import { route } from '../route.ts'
import { isStorable } from '../text.ts'
import { webAddress } from '../web-address.ts'
import { ThirdPartyTokenRecord, thirdPartyTokenView } from './third-party-token-view.ts'

const section = 'Third-party OAuth tokens'
const recordId = z.object({ id: id('record') })

const details = {
  service_name: text(255, {}, { description: 'The provider.', example: 'photoshare' }),
  called_by: text(255, {}, { description: 'An identifier of the service’s own.' }),
  username: text(255, {}, { description: 'At the provider.', example: 'ada' }),
  token: text(16_384, {}, { description: 'A secret; kept encrypted.' }),
  auth_url: webAddress(
    2_048,
    { paths: false },
    { description: 'Where the provider authenticates: http or https.', example: 'https://photoshare.example/oauth' },
  ),
  other_data: jsonObject(65_536, { description: 'Any JSON object, or a text of it, of at most 65,536 bytes; kept encrypted.' }),
  date_expiry: clearable(timestamp({ description: 'When the token expires at the provider; nothing follows from it.' })),
  user_id: idOrNone('user: one of the organisation'),
}

const names = { other_data_json: 'other_data', expire_time: 'date_expiry' }

export const getThirdPartyToken = route({
  get: ['/oauth/thirdparty/:id'],
  section,
  access: 'system',
  summary: 'Read a third-party token',
  params: recordId,
  answer: ThirdPartyTokenRecord,
  refusals: { third_party_token_not_found: 'there is no such record, or it was deleted' },
  async handle({ params }, { services, call }) {
    const { thirdPartyToken } = await services.thirdPartyTokens.getThirdPartyToken({ thirdPartyTokenId: params.id }, call)
    return thirdPartyTokenView(given(thirdPartyToken, 'record'))
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

/** Longer than any value that is stored; what is cut off can never make another value of it. */
const longestValue = 2_100

export const findThirdPartyToken = route({
  get: ['/oauth/thirdparty/attribute/:attribute/value/:value'],
  section,
  access: 'system',
  summary: 'Find a third-party token by one of its values',
  description: 'The newest that has exactly this value. Deleted ones are never found.',
  params: z.object({
    attribute: oneOf(WORDS, { description: 'What is compared.', example: 'service_name' }),
    value: field(
      (value) =>
        typeof value === 'string' && isStorable(value) ? value.slice(0, longestValue) : refuse('must be well-formed Unicode without NUL'),
      z.string().meta({ description: 'What it must be, percent-encoded.', example: 'photoshare' }),
    ),
  }),
  answer: ThirdPartyTokenRecord,
  refusals: { third_party_token_not_found: 'no record has the value' },
  async handle({ params }, { services, call }) {
    const request = { attribute: ATTRIBUTES[params.attribute], value: params.value }
    const { thirdPartyToken } = await services.thirdPartyTokens.findThirdPartyToken(request, call)
    return thirdPartyTokenView(given(thirdPartyToken, 'record'))
  },
})

const status = z.literal(1).meta({ description: 'It was done.' })

export const createThirdPartyToken = route({
  post: ['/oauth/thirdparty'],
  section,
  access: 'user',
  summary: 'Store a third-party token',
  description: 'Of the caller’s own organisation; a system key names any.',
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
  answer: z.object({ id: shown.id('record'), status, created: shown.timestamp('When it was stored.') }),
  refusals: { user_not_found: 'the organisation has no such user' },
  async handle({ payload }, { caller, services, call }) {
    const thirdPartyToken = toMessage({ ...payload, organisation_id: namedOrganisation(caller, payload.organisation_id) })
    const created = await withPublicNames(names, services.thirdPartyTokens.createThirdPartyToken({ thirdPartyToken }, call))
    return { id: created.thirdPartyTokenId, status: 1 as const, created: timestampText(given(created.createTime, 'a time')) }
  },
})

const changes = z.strictObject({
  organisation_id: organisationIdField({ description: 'A system key moves the record by it; of a user it is the own one.' }).optional(),
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
  section,
  access: 'user',
  summary: 'Change a third-party token',
  description: 'Takes any of the fields; those left out stay as they are.',
  params: recordId,
  payload: changes,
  answer: z.object({ id: shown.id('record'), status, Updated: shown.timestamp('When it was changed.') }),
  refusals: {
    third_party_token_not_found: 'there is no such record, it was deleted, or it is of another organisation',
    user_not_found: 'the organisation has no such user',
  },
  async handle({ params, payload }, { caller, services, call }) {
    const sent = Object.keys(payload)
    if (sent.length === 0) throw invalid([{ field: 'payload', message: 'must have at least one field' }])
    if (payload.organisation_id !== undefined) namedOrganisation(caller, payload.organisation_id)
    const thirdPartyToken = { ...toMessage(payload), thirdPartyTokenId: params.id }
    const updateMask = sent.map((name) => Object.entries(names).find(([, shownName]) => shownName === name)?.[0] ?? name)
    const updated = await withPublicNames(names, services.thirdPartyTokens.updateThirdPartyToken({ thirdPartyToken, updateMask }, call))
    return { id: params.id, status: 1 as const, Updated: timestampText(given(updated.updateTime, 'a time')) }
  },
})

export const deleteThirdPartyToken = route({
  delete: ['/oauth/thirdparty/:id'],
  section,
  access: 'user',
  summary: 'Delete a third-party token',
  params: recordId,
  answer: z.object({ id: shown.id('record'), status, Deleted: shown.timestamp('When it was deleted.') }),
  refusals: { third_party_token_not_found: 'there is no such record, it was deleted already, or it is of another organisation' },
  async handle({ params }, { services, call }) {
    const deleted = await services.thirdPartyTokens.deleteThirdPartyToken({ thirdPartyTokenId: params.id }, call)
    return { id: params.id, status: 1 as const, Deleted: timestampText(given(deleted.deleteTime, 'a time')) }
  },
})

export const thirdPartyTokenRoutes = [
  getThirdPartyToken,
  findThirdPartyToken,
  createThirdPartyToken,
  updateThirdPartyToken,
  deleteThirdPartyToken,
]

function toMessage(sent: z.output<typeof changes>): ThirdPartyToken {
  return ThirdPartyToken.create({
    organisationId: sent.organisation_id ?? '',
    serviceName: sent.service_name ?? '',
    calledBy: sent.called_by ?? '',
    username: sent.username ?? '',
    token: sent.token ?? '',
    authUrl: sent.auth_url ?? '',
    otherDataJson: sent.other_data ?? '',
    expireTime: sent.date_expiry ?? undefined,
    userId: sent.user_id ?? '',
  })
}
