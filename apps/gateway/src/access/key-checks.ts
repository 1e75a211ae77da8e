import { createHash } from 'node:crypto'
import { type DomainError, isDomainError } from '@vitascope/errors'
import { type Client, serviceCall, type UserKind } from '@vitascope/grpc'
import type { ApiKeyServiceService, AuthenticateResponse } from '@vitascope/proto/auth/v1/api_key'
import { UserType } from '@vitascope/proto/auth/v1/user'
import { LRUCache } from 'lru-cache'
import type { Caller } from '../caller.ts'

/** A caller with a good key. */
export type KeyHolder = Extract<Caller, { kind: 'user' }>

export interface KeyChecks {
  /** Whose key it is; refuses as auth does. `lookUp` is asked before a key that is not remembered is sent to auth. */
  check(key: string, requestId: string, lookUp: () => Promise<void>): Promise<KeyHolder>
  /** Forgets these keys: they were revoked or changed. */
  forget(keyIds: readonly string[]): void
  forgetAll(): void
}

const GOOD_MS = 5_000
const BAD_MS = 1_000
const MOST_KEYS = 20_000

type Verdict = { holder: Omit<KeyHolder, 'key'>; expireTime: Date | undefined } | { refusal: DomainError }

/** Asks auth about keys, and remembers the answers for a moment under the keys' hashes. */
export function createKeyChecks(apiKeys: Pick<Client<typeof ApiKeyServiceService>, 'authenticate'>): KeyChecks {
  const verdicts = new LRUCache<string, Verdict>({ max: MOST_KEYS })
  const underWay = new Map<string, Promise<Verdict>>()
  // Grows with every revocation: an answer from before one is not remembered after it.
  let revocations = 0

  async function ask(hash: string, key: string, requestId: string): Promise<Verdict> {
    const before = revocations
    const verdict = await authenticate(key, requestId)
    const ttl = lifetime(verdict)
    if (before === revocations && ttl > 0) verdicts.set(hash, verdict, { ttl })
    return verdict
  }

  async function authenticate(key: string, requestId: string): Promise<Verdict> {
    try {
      const answer = await apiKeys.authenticate({ key }, serviceCall('gateway', requestId))
      return { holder: toHolder(answer), expireTime: answer.expireTime }
    } catch (error) {
      if (isDomainError(error) && (error.kind === 'unauthenticated' || error.kind === 'forbidden')) return { refusal: error }
      throw error
    }
  }

  return {
    async check(key, requestId, lookUp) {
      const hash = createHash('sha256').update(key).digest('base64')
      let verdict = verdicts.get(hash)
      if (!verdict) {
        await lookUp()
        let asking = underWay.get(hash)
        if (!asking) {
          asking = ask(hash, key, requestId).finally(() => underWay.delete(hash))
          underWay.set(hash, asking)
        }
        verdict = await asking
      }
      if ('refusal' in verdict) throw verdict.refusal
      return { ...verdict.holder, key }
    },
    forget(keyIds) {
      revocations++
      const gone = new Set(keyIds)
      for (const [hash, verdict] of verdicts.entries()) if ('holder' in verdict && gone.has(verdict.holder.keyId)) verdicts.delete(hash)
      underWay.clear()
    },
    forgetAll() {
      revocations++
      verdicts.clear()
      underWay.clear()
    },
  }
}

const KIND_OF_TYPE: Partial<Record<UserType, UserKind>> = {
  [UserType.USER_TYPE_UPLOADER]: 'uploader',
  [UserType.USER_TYPE_STANDARD]: 'standard',
  [UserType.USER_TYPE_SYSTEM]: 'system',
}

function toHolder(answer: AuthenticateResponse): Omit<KeyHolder, 'key'> {
  const userType = KIND_OF_TYPE[answer.userType]
  if (!userType) throw new Error(`auth answered a user of type ${answer.userType}`)
  return {
    kind: 'user',
    keyId: answer.apiKeyId,
    userId: answer.userId,
    organisationId: answer.organisationId,
    userType,
    resources: new Set(answer.resources),
  }
}

/** A good key is remembered no longer than it holds. */
function lifetime(verdict: Verdict): number {
  if ('refusal' in verdict) return BAD_MS
  return verdict.expireTime ? Math.min(GOOD_MS, verdict.expireTime.getTime() - Date.now()) : GOOD_MS
}
