import { randomUUID } from 'node:crypto'
import { createLoadingCache } from '@vitascope/concurrency'
import { isDomainError } from '@vitascope/errors'
import { type Client, serviceCall } from '@vitascope/grpc'
import type {
  DeliveryRuleServiceService,
  GetDeliveryRuleResponse,
  GetPresentationRuleResponse,
} from '@vitascope/proto/catalogue/v1/delivery_rule'
import { parseAddressRules } from '@vitascope/security'
import type { DeliveryRule } from './admission.ts'
import { type CaptionRule, NO_CAPTIONS } from './captions/hls-captions.ts'
import type { DeliveryPath } from './delivery-path.ts'

/** Maximum age of a cached rule. Rule changes must take effect within 5 s, including the catalogue's share. */
const FRESH_MS = 2_000
/** While the catalogue is unavailable, a rule up to this age is used. */
const STALE_MS = 4_000
const MAX_RULES = 50_000

/** The video or presentation of a rule. */
export type Asked = Pick<DeliveryPath, 'kind' | 'id'>

export interface RuleCache {
  /**
   * Returns undefined if it does not exist. `fresh` bypasses the cache. Throws `unavailable` if the
   * catalogue is unavailable and no recent rule is cached.
   */
  get(asked: Asked, options?: { fresh?: boolean }): Promise<DeliveryRule | undefined>
}

/** Creates the cache. Concurrent requests for the same rule share one call to the catalogue. */
export function createRuleCache(rules: Client<typeof DeliveryRuleServiceService>): RuleCache {
  const cache = createLoadingCache<DeliveryRule | undefined>({
    max: MAX_RULES,
    maxMissing: MAX_RULES,
    isMissing: (rule) => rule === undefined,
    ttlMs: () => FRESH_MS,
  })

  const find = async ({ kind, id }: Asked): Promise<DeliveryRule> => {
    const call = serviceCall('delivery', randomUUID())
    if (kind === 'video') {
      const rule = await rules.getDeliveryRule({ videoId: id }, call)
      return { ...toRule(rule), videoId: id, captions: toCaptionRule(rule), added: rule.added }
    }
    const rule = await rules.getPresentationRule({ presentationId: id }, call)
    return { ...toRule(rule), videoId: rule.videoId, captions: NO_CAPTIONS, added: [] }
  }
  const findOrUndefined = async (asked: Asked): Promise<DeliveryRule | undefined> => {
    try {
      return await find(asked)
    } catch (error) {
      if (isDomainError(error) && error.kind === 'not_found') return undefined
      throw error
    }
  }

  return {
    async get(asked, { fresh = false } = {}) {
      const key = `${asked.kind} ${asked.id}`
      try {
        return await cache[fresh ? 'reload' : 'get'](key, () => findOrUndefined(asked))
      } catch (error) {
        const last = cache.last(key)
        if (last && last.ageMs < STALE_MS && isDomainError(error) && error.kind === 'unavailable') return last.value
        throw error
      }
    },
  }
}

function toRule(message: GetDeliveryRuleResponse | GetPresentationRuleResponse): Omit<DeliveryRule, 'videoId' | 'captions' | 'added'> {
  const { rules, errors } = parseAddressRules(message.allowedIps)
  // The catalogue validates rules before it stores them. An unreadable rule must never grant
  // access.
  if (errors) throw new Error('the catalogue keeps an address rule that cannot be read')
  return { sets: message.sets, tokenRequired: message.tokenRequired, allowed: rules, expires: message.expireTime }
}

function toCaptionRule({ masterPath, durationSeconds, captions }: GetDeliveryRuleResponse): CaptionRule {
  return { masterPath, durationSeconds, tracks: captions }
}
