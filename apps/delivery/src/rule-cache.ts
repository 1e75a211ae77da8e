import { randomUUID } from 'node:crypto'
import { isDomainError } from '@vitascope/errors'
import { type Client, serviceCall } from '@vitascope/grpc'
import type {
  DeliveryRuleServiceService,
  GetDeliveryRuleResponse,
  GetPresentationRuleResponse,
} from '@vitascope/proto/catalogue/v1/delivery_rule'
import { parseAddressRules } from '@vitascope/security'
import { LRUCache } from 'lru-cache'
import type { DeliveryRule } from './admission.ts'
import { type CaptionRule, NO_CAPTIONS } from './captions/hls-captions.ts'
import type { DeliveryPath } from './delivery-path.ts'

/** Maximum age of a cached rule. Rule changes must take effect within 5 s, including the catalogue's share. */
const FRESH_MS = 2_000
/** While the catalogue is unavailable, a rule up to this age is used. */
const STALE_MS = 4_000
const RULES = 50_000

/** The video or presentation of a rule. */
export type Asked = Pick<DeliveryPath, 'kind' | 'id'>

type Kept = { rule: DeliveryRule | undefined; at: number }

export interface RuleCache {
  /**
   * Returns undefined if it does not exist. `fresh` bypasses the cache. Throws `unavailable` if the
   * catalogue is unavailable and no recent rule is cached.
   */
  get(asked: Asked, options?: { fresh?: boolean }): Promise<DeliveryRule | undefined>
}

/** Creates the cache. Concurrent requests for the same rule share one call to the catalogue. */
export function createRuleCache(rules: Client<typeof DeliveryRuleServiceService>): RuleCache {
  const kept = new LRUCache<string, Kept>({ max: RULES })
  const asking = new Map<string, Promise<DeliveryRule | undefined>>()

  const find = async ({ kind, id }: Asked): Promise<DeliveryRule> => {
    const call = serviceCall('delivery', randomUUID())
    if (kind === 'video') {
      const rule = await rules.getDeliveryRule({ videoId: id }, call)
      return { ...toRule(rule), videoId: id, captions: toCaptionRule(rule), added: rule.added }
    }
    const rule = await rules.getPresentationRule({ presentationId: id }, call)
    return { ...toRule(rule), videoId: rule.videoId, captions: NO_CAPTIONS, added: [] }
  }
  const ask = async (asked: Asked, name: string): Promise<DeliveryRule | undefined> => {
    try {
      const rule = await find(asked)
      kept.set(name, { rule, at: Date.now() })
      return rule
    } catch (error) {
      if (isDomainError(error) && error.kind === 'not_found') {
        kept.set(name, { rule: undefined, at: Date.now() })
        return undefined
      }
      const known = kept.get(name)
      if (known && isDomainError(error) && error.kind === 'unavailable' && Date.now() - known.at < STALE_MS) return known.rule
      throw error
    }
  }

  return {
    get(asked, { fresh = false } = {}) {
      const name = `${asked.kind} ${asked.id}`
      const known = kept.get(name)
      if (known && !fresh && Date.now() - known.at < FRESH_MS) return Promise.resolve(known.rule)
      const running = asking.get(name)
      if (running) return running
      const answer = ask(asked, name).finally(() => asking.delete(name))
      asking.set(name, answer)
      return answer
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
