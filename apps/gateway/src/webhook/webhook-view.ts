import { type Delivery, DeliveryState, type Webhook } from '@vitascope/proto/catalogue/v1/webhook'
import { z } from 'zod'
import { flagText, numberText, shown, timestampText } from '../public-form.ts'

/** What webhooks may ask for. */
export const EVENTS = [
  'video.created',
  'video.playable',
  'video.ready',
  'video.failed',
  'video.deleted',
  'media.replaced',
  'caption.created',
  'presentation.ready',
  'key.expiring',
] as const

export const WebhookRecord = z
  .object({
    webhook_id: shown.id('webhook'),
    organisation_id: shown.id('organisation'),
    url: shown.text('Where events are sent.', 'https://hooks.example.org/vitascope'),
    events: z.array(z.string().meta({ example: 'video.ready' })).meta({ description: 'What it asks for.' }),
    enabled: shown.flag('0: nothing is queued for it, and what waits stands still.'),
    disabled_reason: shown.text('Why the platform disabled it; empty otherwise.', ''),
    time_created: shown.timestamp('When it was made.'),
  })
  .meta({ id: 'Webhook', description: 'An address that is told of events.' })

const secret = shown.text('Of its signatures: shown here, and never again.', 'whsec_…')

export const NewWebhookRecord = WebhookRecord.extend({ secret }).meta({ id: 'NewWebhook', description: 'A webhook with its secret.' })

export const WebhookSecret = z.object({ webhook_id: shown.id('webhook'), secret }).meta({ id: 'WebhookSecret' })

export const DeliveryRecord = z
  .object({
    delivery_id: shown.id('delivery'),
    event: shown.text('One of the events, `webhook.test`, or the note `webhook.disabled`.', 'video.ready'),
    time_created: shown.timestamp('When it was queued.'),
    attempt: shown.text('Tries so far.', '1'),
    status: z
      .enum(['waiting', 'delivered', 'failed', 'note'])
      .meta({ description: '`failed`: given up. `note`: not sent; it tells what became of the webhook.' }),
    response_code: shown.text('Status of the last answer; empty where there was none.', '200'),
  })
  .meta({ id: 'WebhookDelivery', description: 'An event on its way to a webhook.' })

export function webhookView(webhook: Webhook): z.input<typeof WebhookRecord> {
  return {
    webhook_id: webhook.webhookId,
    organisation_id: webhook.organisationId,
    url: webhook.url,
    events: webhook.events,
    enabled: flagText(webhook.enabled),
    disabled_reason: webhook.disabledReason,
    time_created: timestampText(webhook.createTime),
  }
}

export function deliveryView(delivery: Delivery): z.input<typeof DeliveryRecord> {
  return {
    delivery_id: delivery.deliveryId,
    event: delivery.event,
    time_created: timestampText(delivery.createTime),
    attempt: String(delivery.attempt),
    status: statusOf(delivery.state),
    response_code: numberText(delivery.responseCode),
  }
}

function statusOf(state: DeliveryState): z.input<typeof DeliveryRecord>['status'] {
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
