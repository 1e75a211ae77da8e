import { invalid } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import type { Notifications } from '@vitascope/postgres'
import { requireService } from '@vitascope/principal'
import {
  type ApiKey as ApiKeyMessage,
  ApiKeyPreset,
  type ApiKeyServiceService,
  type ListApiKeysRequest,
} from '@vitascope/proto/auth/v1/api_key'
import { pageById } from '@vitascope/request'
import { watchKeyChanges } from '../key/key-change.ts'
import { MAX_ROWS, messageSize } from '../rules/page-size.ts'
import { toUserType } from '../user/user-rpc.ts'
import {
  type ApiKey,
  type ApiKeyStore,
  createApiKey,
  getApiKey,
  type KeyOwner,
  listApiKeys,
  regenerateApiKey,
  revokeApiKey,
} from './api-key.ts'
import { type Authentication, authenticate } from './authenticate.ts'
import type { KeyPreset } from './key-preset.ts'

export function apiKeyHandlers(
  keys: ApiKeyStore,
  authentication: Authentication,
  changes: Notifications,
): Handlers<typeof ApiKeyServiceService> {
  return {
    async authenticate({ key }, call) {
      const { apiKeyId, userId, organisationId, userType, resources, expireTime } = await authenticate(authentication, key, call)
      return { apiKeyId, userId, organisationId, userType: toUserType(userType), resources: [...resources], expireTime }
    },
    async createApiKey({ preset, ...newKey }, call) {
      return { apiKey: toMessage(await createApiKey(keys, { ...newKey, preset: toPreset(preset) }, call)) }
    },
    async getApiKey({ key }, call) {
      return { apiKey: toMessage(await getApiKey(keys, key, call)) }
    },
    async listApiKeys(request, call) {
      const { rows, nextPageToken } = await pageById(request, MAX_ROWS, {
        read: (page) => listApiKeys(keys, toOwner(request.owner), page, call),
        getId: (key) => key.apiKeyId,
        getBytes: messageSize,
      })
      return { apiKeys: rows.map(toMessage), nextPageToken }
    },
    async regenerateApiKey({ key }, call) {
      return { apiKey: toMessage(await regenerateApiKey(keys, key, call)) }
    },
    async revokeApiKey({ key }, call) {
      await revokeApiKey(keys, key, call)
      return {}
    },
    async *watchRevocations(_request, { principal, signal }) {
      requireService(principal)
      for await (const apiKeyIds of watchKeyChanges(changes, signal)) yield { apiKeyIds }
    },
  }
}

function toPreset(preset: ApiKeyPreset | undefined): KeyPreset | undefined {
  if (preset === ApiKeyPreset.UNRECOGNIZED) throw invalid([{ field: 'preset', message: 'must be a preset that this version has' }])
  return PRESETS[preset ?? ApiKeyPreset.API_KEY_PRESET_UNSPECIFIED]
}

const PRESETS = {
  [ApiKeyPreset.API_KEY_PRESET_UNSPECIFIED]: undefined,
  [ApiKeyPreset.API_KEY_PRESET_UPLOAD]: 'upload',
  [ApiKeyPreset.API_KEY_PRESET_PLAYBACK]: 'playback',
  [ApiKeyPreset.API_KEY_PRESET_READ]: 'read',
  [ApiKeyPreset.API_KEY_PRESET_ADMIN]: 'admin',
} as const

function toOwner(owner: ListApiKeysRequest['owner']): KeyOwner | undefined {
  if (!owner) return undefined
  return owner.$case === 'userId' ? { userId: owner.value } : { organisationId: owner.value }
}

function toMessage(key: ApiKey): ApiKeyMessage {
  const { resources, userType: _, ...fields } = key
  return { ...fields, resources: [...resources] }
}
