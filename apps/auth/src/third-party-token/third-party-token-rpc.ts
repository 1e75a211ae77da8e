import type { Handlers } from '@vitascope/grpc'
import {
  ThirdPartyTokenAttribute as AttributeMessage,
  type ThirdPartyTokenServiceService,
  ThirdPartyToken as TokenMessage,
} from '@vitascope/proto/auth/v1/third_party_token'
import { readMask } from '@vitascope/request'
import {
  type Attribute,
  createThirdPartyToken,
  deleteThirdPartyToken,
  findThirdPartyToken,
  getThirdPartyToken,
  type ThirdPartyTokenDetails,
  type ThirdPartyTokenStore,
  updateThirdPartyToken,
} from './third-party-token.ts'

const CHANGEABLE = [
  'organisation_id',
  'service_name',
  'called_by',
  'username',
  'token',
  'auth_url',
  'other_data_json',
  'expire_time',
  'user_id',
] as const

const ATTRIBUTE_OF: Partial<Record<AttributeMessage, Attribute>> = {
  [AttributeMessage.THIRD_PARTY_TOKEN_ATTRIBUTE_ID]: 'id',
  [AttributeMessage.THIRD_PARTY_TOKEN_ATTRIBUTE_ORGANISATION_ID]: 'organisation_id',
  [AttributeMessage.THIRD_PARTY_TOKEN_ATTRIBUTE_SERVICE_NAME]: 'service_name',
  [AttributeMessage.THIRD_PARTY_TOKEN_ATTRIBUTE_CALLED_BY]: 'called_by',
  [AttributeMessage.THIRD_PARTY_TOKEN_ATTRIBUTE_USERNAME]: 'username',
  [AttributeMessage.THIRD_PARTY_TOKEN_ATTRIBUTE_AUTH_URL]: 'auth_url',
  [AttributeMessage.THIRD_PARTY_TOKEN_ATTRIBUTE_USER_ID]: 'user_id',
}

export function thirdPartyTokenHandlers(tokens: ThirdPartyTokenStore): Handlers<typeof ThirdPartyTokenServiceService> {
  return {
    async getThirdPartyToken({ thirdPartyTokenId }, call) {
      return { thirdPartyToken: await getThirdPartyToken(tokens, thirdPartyTokenId, call) }
    },
    async findThirdPartyToken({ attribute, value }, call) {
      return { thirdPartyToken: await findThirdPartyToken(tokens, { attribute: ATTRIBUTE_OF[attribute], value }, call) }
    },
    createThirdPartyToken: ({ thirdPartyToken }, call) => createThirdPartyToken(tokens, toDetails(thirdPartyToken), call),
    async updateThirdPartyToken({ thirdPartyToken, updateMask }, call) {
      const change = toChange(thirdPartyToken, readMask(updateMask, CHANGEABLE))
      const request = { thirdPartyTokenId: thirdPartyToken?.thirdPartyTokenId ?? '', change }
      return { updateTime: await updateThirdPartyToken(tokens, request, call) }
    },
    async deleteThirdPartyToken({ thirdPartyTokenId }, call) {
      return { deleteTime: await deleteThirdPartyToken(tokens, thirdPartyTokenId, call) }
    },
  }
}

function toDetails(message: TokenMessage = TokenMessage.create()): ThirdPartyTokenDetails {
  const { organisationId, serviceName, calledBy, username, token, authUrl, otherDataJson, expireTime, userId } = message
  return { organisationId, serviceName, calledBy, username, token, authUrl, otherDataJson, expireTime, userId }
}

function toChange(message: TokenMessage | undefined, mask: ReadonlySet<(typeof CHANGEABLE)[number]>): Partial<ThirdPartyTokenDetails> {
  const details = toDetails(message)
  return {
    ...(mask.has('organisation_id') && { organisationId: details.organisationId }),
    ...(mask.has('service_name') && { serviceName: details.serviceName }),
    ...(mask.has('called_by') && { calledBy: details.calledBy }),
    ...(mask.has('username') && { username: details.username }),
    ...(mask.has('token') && { token: details.token }),
    ...(mask.has('auth_url') && { authUrl: details.authUrl }),
    ...(mask.has('other_data_json') && { otherDataJson: details.otherDataJson }),
    ...(mask.has('expire_time') && { expireTime: details.expireTime }),
    ...(mask.has('user_id') && { userId: details.userId }),
  }
}
