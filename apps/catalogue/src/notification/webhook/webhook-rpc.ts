import { notFound } from '@vitascope/errors'
import type { Handlers, Principal } from '@vitascope/grpc'
import { getScope } from '@vitascope/principal'
import { DeliveryState, type Delivery as Message, type WebhookServiceService } from '@vitascope/proto/catalogue/v1/webhook'
import { encodePageToken, pageById, readIdToken, toPageSize } from '@vitascope/request'
import type { Organisations } from '../../organisation-replica/organisation.ts'
import { requireOrganisation } from '../../organisation-replica/requested-organisation.ts'
import type { DeliveryStore } from './delivery-store.ts'
import { type CheckAddress, checkWebhook, type Delivery, mergeWebhook } from './webhook.ts'
import type { WebhookKey, WebhookStore } from './webhook-store.ts'

const MAX_WEBHOOKS = 100
const DEFAULT_DELIVERIES = 100
const MAX_DELIVERIES = 1_000

const STATES: Record<Delivery['state'], DeliveryState> = {
  waiting: DeliveryState.DELIVERY_STATE_WAITING,
  delivered: DeliveryState.DELIVERY_STATE_DELIVERED,
  failed: DeliveryState.DELIVERY_STATE_FAILED,
  note: DeliveryState.DELIVERY_STATE_NOTE,
}

export function webhookHandlers(stores: {
  webhooks: WebhookStore
  deliveries: Omit<DeliveryStore, 'trim'>
  organisations: Organisations
  checkAddress: CheckAddress
}): Handlers<typeof WebhookServiceService> {
  const { webhooks, deliveries, organisations, checkAddress } = stores
  return {
    async listWebhooks({ organisationId: requestedId, ...page }, { principal, signal }) {
      const organisationId = await requireOrganisation(organisations, principal, requestedId, signal)
      const { rows, nextPageToken } = await pageById(page, MAX_WEBHOOKS, {
        read: (position) => webhooks.list(organisationId, position, signal),
        getId: ({ webhookId }) => webhookId,
      })
      return { webhooks: rows, nextPageToken }
    },
    async getWebhook({ webhookId }, { principal, signal }) {
      return { webhook: await webhooks.require(toKey(principal, webhookId), signal) }
    },
    async createWebhook({ organisationId: requestedId, url, events, enabled }, call) {
      const organisationId = await requireOrganisation(organisations, call.principal, requestedId, call.signal)
      return webhooks.create(checkWebhook({ organisationId, url, events, enabled }, checkAddress), call)
    },
    async updateWebhook({ webhook: input, updateMask = [] }, { principal, signal }) {
      if (!input) throw notFound('webhook', '')
      const change = (current: Parameters<typeof mergeWebhook>[0]) => mergeWebhook(current, input, updateMask, checkAddress)
      return { webhook: await webhooks.update(toKey(principal, input.webhookId), change, signal) }
    },
    async deleteWebhook({ webhookId }, { principal, signal }) {
      await webhooks.remove(toKey(principal, webhookId), signal)
      return {}
    },
    async rotateSecret({ webhookId }, call) {
      return { secret: await webhooks.rotate(toKey(call.principal, webhookId), call) }
    },
    async listDeliveries({ webhookId, pageSize, pageToken, skip }, { principal, signal }) {
      const size = toPageSize({ pageSize, skip }, MAX_DELIVERIES, DEFAULT_DELIVERIES)
      const position = { before: readIdToken(pageToken), limit: size + 1, skip }
      const rows = await deliveries.list(toKey(principal, webhookId), position, signal)
      const page = rows.slice(0, size)
      const last = page.at(-1)
      return { deliveries: page.map(toMessage), nextPageToken: rows.length > size && last ? encodePageToken([last.deliveryId]) : '' }
    },
    async resendDelivery({ webhookId, deliveryId }, call) {
      return { deliveryId: await deliveries.resend(toKey(call.principal, webhookId), deliveryId, call) }
    },
    async testWebhook({ webhookId }, call) {
      return { deliveryId: await deliveries.test(toKey(call.principal, webhookId), call) }
    },
  }
}

function toKey(principal: Principal, webhookId: string): WebhookKey {
  return { scope: getScope(principal), webhookId }
}

function toMessage(delivery: Delivery): Message {
  return { ...delivery, state: STATES[delivery.state] }
}
