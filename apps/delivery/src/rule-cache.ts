import { randomUUID } from 'node:crypto'
import { parseAddressRules } from '@vitascope/access'
import { isDomainError } from '@vitascope/errors'
import { type Client, serviceCall } from '@vitascope/grpc'
import type { DeliveryRuleServiceService, GetDeliveryRuleResponse } from '@vitascope/proto/catalogue/v1/delivery_rule'
import { LRUCache } from 'lru-cache'
import type { DeliveryRule } from './admission.ts'

/** A change of a video's rules shows within this time; contract: 5 s, catalogue's own share included. */
const FRESH_MS = 2_000
/** A rule of this age still serves while the catalogue is away. */
const STALE_MS = 4_000
const VIDEOS = 50_000

type Kept = { rule: DeliveryRule | undefined; at: number }

export interface RuleCache {
  /** Undefined: no such video. Refuses as unavailable when the catalogue is away and nothing recent is known. */
  get(videoId: string): Promise<DeliveryRule | undefined>
}

/** Asks the catalogue once for all requests that want the same video at the same time. */
export function createRuleCache(rules: Client<typeof DeliveryRuleServiceService>): RuleCache {
  const kept = new LRUCache<string, Kept>({ max: VIDEOS })
  const asking = new Map<string, Promise<DeliveryRule | undefined>>()

  const ask = async (videoId: string): Promise<DeliveryRule | undefined> => {
    try {
      const rule = toRule(await rules.getDeliveryRule({ videoId }, serviceCall('delivery', randomUUID())))
      kept.set(videoId, { rule, at: Date.now() })
      return rule
    } catch (error) {
      if (isDomainError(error) && error.kind === 'not_found') {
        kept.set(videoId, { rule: undefined, at: Date.now() })
        return undefined
      }
      const known = kept.get(videoId)
      if (known && isDomainError(error) && error.kind === 'unavailable' && Date.now() - known.at < STALE_MS) return known.rule
      throw error
    }
  }

  return {
    get(videoId) {
      const known = kept.get(videoId)
      if (known && Date.now() - known.at < FRESH_MS) return Promise.resolve(known.rule)
      const running = asking.get(videoId)
      if (running) return running
      const asked = ask(videoId).finally(() => asking.delete(videoId))
      asking.set(videoId, asked)
      return asked
    },
  }
}

function toRule(message: GetDeliveryRuleResponse): DeliveryRule {
  const { rules, errors } = parseAddressRules(message.allowedIps)
  // The catalogue checks them before it keeps them; a rule that cannot be read must never open a video.
  if (errors) throw new Error('the catalogue keeps an address rule that cannot be read')
  return { sets: message.sets, tokenRequired: message.tokenRequired, allowed: rules, expires: message.expireTime }
}
