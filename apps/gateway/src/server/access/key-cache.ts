import { createHash } from 'node:crypto'
import { createLoadingCache } from '@vitascope/concurrency'
import { DomainError, isDomainError } from '@vitascope/errors'
import { type Client, serviceCall, type UserKind } from '@vitascope/grpc'
import type { ApiKeyServiceService, AuthenticateResponse } from '@vitascope/proto/auth/v1/api_key'
import { UserType } from '@vitascope/proto/auth/v1/user'
import { LRUCache } from 'lru-cache'
import type { Caller } from '../route/caller.ts'

/** A caller with a valid key. */
export type KeyHolder = Extract<Caller, { kind: 'user' }>

export interface ApiKeyCache {
  /**
   * Returns the holder of a key. Throws auth's error for an invalid one. Before it sends auth a key
   * that was not valid within the last day, it awaits `beforeLookup`. Throws `unavailable` (503) when
   * too many such keys are being looked up.
   */
  check(key: string, requestId: string, beforeLookup: () => Promise<void>): Promise<KeyHolder>
  /** Removes revoked or changed keys from the cache. */
  forget(keyIds: readonly string[]): void
  clear(): void
}

const VALID_TTL_MS = 5_000
const INVALID_TTL_MS = 1_000
const MAX_KEYS = 20_000
/** A key that was valid within this time is looked up regardless of the limits of its address. */
const KNOWN_TTL_MS = 86_400_000
/**
 * Maximum number of concurrent lookups of keys that were not valid within `KNOWN_TTL_MS`. Each
 * lookup costs auth one indexed query.
 */
const MAX_UNKNOWN = 64

type Verdict = { holder: Omit<KeyHolder, 'key'>; expireTime: Date | undefined } | { error: DomainError }

/** Creates a cache of auth's responses, indexed by the hash of the key. */
export function createApiKeyCache(apiKeys: Pick<Client<typeof ApiKeyServiceService>, 'authenticate'>): ApiKeyCache {
  const verdicts = createLoadingCache<Verdict>({
    max: MAX_KEYS,
    maxMissing: MAX_KEYS,
    isMissing: (verdict) => 'error' in verdict,
    ttlMs: lifetime,
  })
  /** Hashes of keys that were valid. */
  const knownHashes = new LRUCache<string, true>({ max: MAX_KEYS, ttl: KNOWN_TTL_MS })
  let unknownLookups = 0

  async function authenticateAndRecord(hash: string, key: string, requestId: string): Promise<Verdict> {
    const verdict = await authenticate(key, requestId)
    if ('error' in verdict) knownHashes.delete(hash)
    else knownHashes.set(hash, true)
    return verdict
  }

  async function authenticateUnknown(hash: string, key: string, requestId: string): Promise<Verdict> {
    if (unknownLookups >= MAX_UNKNOWN) {
      throw new DomainError('unavailable', 'OVERLOADED', 'too many unknown keys are being looked up; try again', { retryAfter: 1 })
    }
    unknownLookups++
    return await authenticateAndRecord(hash, key, requestId).finally(() => unknownLookups--)
  }

  async function authenticate(key: string, requestId: string): Promise<Verdict> {
    try {
      const response = await apiKeys.authenticate({ key }, serviceCall('gateway', requestId))
      return { holder: toHolder(response), expireTime: response.expireTime }
    } catch (error) {
      if (isDomainError(error) && (error.kind === 'unauthenticated' || error.kind === 'forbidden')) return { error }
      throw error
    }
  }

  return {
    async check(key, requestId, beforeLookup) {
      const hash = createHash('sha256').update(key).digest('base64')
      const isKnown = knownHashes.has(hash)
      if (!isKnown && !verdicts.last(hash)?.isFresh) await beforeLookup()
      const verdict = await verdicts.get(hash, () => (isKnown ? authenticateAndRecord : authenticateUnknown)(hash, key, requestId))
      if ('error' in verdict) throw verdict.error
      return { ...verdict.holder, key }
    },
    forget(keyIds) {
      const revoked = new Set(keyIds)
      verdicts.deleteWhere((verdict) => 'holder' in verdict && revoked.has(verdict.holder.keyId))
    },
    clear() {
      verdicts.clear()
    },
  }
}

const KIND_OF_TYPE: Partial<Record<UserType, UserKind>> = {
  [UserType.USER_TYPE_UPLOADER]: 'uploader',
  [UserType.USER_TYPE_STANDARD]: 'standard',
  [UserType.USER_TYPE_SYSTEM]: 'system',
}

function toHolder(response: AuthenticateResponse): Omit<KeyHolder, 'key'> {
  const userType = KIND_OF_TYPE[response.userType]
  if (!userType) throw new Error(`auth returned the unknown user type ${response.userType}`)
  return {
    kind: 'user',
    keyId: response.apiKeyId,
    userId: response.userId,
    organisationId: response.organisationId,
    userType,
    resources: new Set(response.resources),
  }
}

/** Returns the cache time of a verdict. A valid key is not cached beyond its expiry. */
function lifetime(verdict: Verdict): number {
  if ('error' in verdict) return INVALID_TTL_MS
  return verdict.expireTime ? Math.min(VALID_TTL_MS, verdict.expireTime.getTime() - Date.now()) : VALID_TTL_MS
}
