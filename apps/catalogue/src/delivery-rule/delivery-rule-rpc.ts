import { notFound } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import type { DeliveryRuleServiceService } from '@vitascope/proto/catalogue/v1/delivery_rule'
import { parseId } from '../id/id.ts'
import type { PresentationRules } from '../presentation/presentation-rule.ts'
import { requireService } from '../visibility.ts'
import type { DeliveryRuleStore } from './delivery-rule.ts'

export function deliveryRuleHandlers(
  rules: DeliveryRuleStore,
  presentations: PresentationRules,
): Handlers<typeof DeliveryRuleServiceService> {
  return {
    async getDeliveryRule({ videoId }, { principal, signal }) {
      requireService(principal)
      const rule = parseId(videoId) ? await rules.find(videoId, signal) : undefined
      if (!rule) throw notFound('video', videoId)
      return rule
    },
    async getPresentationRule({ presentationId }, { principal, signal }) {
      requireService(principal)
      const rule = parseId(presentationId) ? await presentations.find(presentationId, signal) : undefined
      if (!rule) throw notFound('presentation', presentationId)
      return rule
    },
  }
}
