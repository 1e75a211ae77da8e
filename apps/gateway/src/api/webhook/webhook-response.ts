import { type Delivery, DeliveryState, type Webhook } from '@vitascope/proto/catalogue/v1/webhook'
import { z } from 'zod'
import { formatFlag, formatNumber, formatOptionalTimestamp, schema } from '../../server/schema/response-format.ts'

export const WebhookResponse = z
  .object({
    id: schema.id('webhook'),
    webhook_id: schema.id('webhook'),
    organisation_id: schema.id('organisation'),
    url: schema.text('URL to which events are posted.', 'https://hooks.example.org/vitascope'),
    events: z.array(z.string().meta({ example: 'video.ready' })).meta({ description: 'Event types that the webhook receives.' }),
    enabled: schema.flag('`0`: delivery is stopped. No new events are queued, and queued events wait.'),
    disabled_reason: schema.text('Reason why the platform disabled the webhook. Empty otherwise.', ''),
    time_created: schema.timestamp('Time of creation.'),
  })
  .meta({ id: 'Webhook', description: 'A webhook: a URL that receives events.' })

const secret = schema.text('Secret of the signatures. It is returned only here.', 'whsec_…')

export const NewWebhookResponse = WebhookResponse.extend({ secret }).meta({ id: 'NewWebhook', description: 'A webhook with its secret.' })

export const WebhookSecretResponse = z.object({ webhook_id: schema.id('webhook'), secret }).meta({ id: 'WebhookSecret' })

export const DeliveryResponse = z
  .object({
    delivery_id: schema.id('delivery'),
    event: schema.text('Type of the event, `webhook.test`, or the note `webhook.disabled`.', 'video.ready'),
    time_created: schema.timestamp('Time at which the event was queued.'),
    attempt: schema.text('Number of attempts so far.', '1'),
    status: z.enum(['waiting', 'delivered', 'failed', 'note']).meta({
      description:
        'State of the delivery. `failed`: the platform stopped retrying. `note`: the entry was not sent. It records a change of the webhook.',
    }),
    response_code: schema.text('Status code of the last response. Empty if there was none.', '200'),
  })
  .meta({ id: 'WebhookDelivery', description: 'A delivery of an event to a webhook.' })

export function webhookResponse(webhook: Webhook): z.input<typeof WebhookResponse> {
  return {
    id: webhook.webhookId,
    webhook_id: webhook.webhookId,
    organisation_id: webhook.organisationId,
    url: webhook.url,
    events: webhook.events,
    enabled: formatFlag(webhook.enabled),
    disabled_reason: webhook.disabledReason,
    time_created: formatOptionalTimestamp(webhook.createTime),
  }
}

export function deliveryResponse(delivery: Delivery): z.input<typeof DeliveryResponse> {
  return {
    delivery_id: delivery.deliveryId,
    event: delivery.event,
    time_created: formatOptionalTimestamp(delivery.createTime),
    attempt: String(delivery.attempt),
    status: toDeliveryStatus(delivery.state),
    response_code: formatNumber(delivery.responseCode),
  }
}

function toDeliveryStatus(state: DeliveryState): z.input<typeof DeliveryResponse>['status'] {
  switch (state) {
    case DeliveryState.DELIVERY_STATE_WAITING:
      return 'waiting'
    case DeliveryState.DELIVERY_STATE_DELIVERED:
      return 'delivered'
    case DeliveryState.DELIVERY_STATE_FAILED:
      return 'failed'
    case DeliveryState.DELIVERY_STATE_NOTE:
      return 'note'
    default:
      throw new Error('a delivery without a state')
  }
}
