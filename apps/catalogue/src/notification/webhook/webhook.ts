import { DomainError, type FieldError, requireValid } from '@vitascope/errors'
import { EVENT_TYPES, isEventType } from '@vitascope/proto/event-types'
import { applyMask, checkText } from '@vitascope/request'

/** A URL that receives the events of an organisation. */
export interface Webhook extends WebhookFields {
  webhookId: string
  organisationId: string
  /** Reason if the platform disabled the webhook, otherwise empty. */
  disabledReason: string
  createTime: Date
}

export interface WebhookFields {
  url: string
  events: string[]
  /** If false, no events are queued and waiting deliveries are paused. */
  enabled: boolean
}

/** The delivery of an event to a webhook. A `note` is an entry of the log that is never sent. */
export interface Delivery {
  deliveryId: string
  event: string
  createTime: Date
  attempt: number
  state: 'waiting' | 'delivered' | 'failed' | 'note'
  responseCode: number | undefined
}

/** Returns the problems of a URL's syntax and host, as sentences. */
export type CheckAddress = (url: string) => readonly string[]

export const MAX_WEBHOOKS = 20
const MAX_URL_CHARACTERS = 2_000
const PATHS = new Map<string, keyof WebhookFields>([
  ['url', 'url'],
  ['events', 'events'],
  ['enabled', 'enabled'],
])

/** Returns the fields with each event type once. Throws `invalid` with every invalid field. */
export function checkWebhook<Fields extends WebhookFields>(fields: Fields, checkAddress: CheckAddress): Fields {
  const lengthProblems = checkText('url', fields.url, { min: 1, max: MAX_URL_CHARACTERS })
  const addressProblems = lengthProblems.length > 0 ? [] : checkAddress(fields.url)
  const problems: FieldError[] = [
    ...lengthProblems,
    ...(addressProblems.length > 0 ? [{ field: 'url', message: addressProblems.join('; ') }] : []),
  ]
  if (fields.events.length === 0) problems.push({ field: 'events', message: 'must not be empty' })
  if (!fields.events.every(isEventType)) problems.push({ field: 'events', message: `must be one of: ${EVENT_TYPES.join(', ')}` })
  requireValid(problems)
  return { ...fields, events: [...new Set(fields.events)] }
}

/** Returns the fields `current` with the masked fields of `input`. Throws `invalid` with every invalid field. */
export function mergeWebhook(
  current: WebhookFields,
  input: WebhookFields,
  mask: readonly string[],
  checkAddress: CheckAddress,
): WebhookFields {
  const { fields, problems } = applyMask(current, input, mask, PATHS)
  requireValid(problems)
  // An unchanged URL is not checked here, because every call checks it.
  return checkWebhook(fields, mask.includes('url') ? checkAddress : () => [])
}

export function webhooksFull(): DomainError {
  return new DomainError('failed_precondition', 'WEBHOOKS_FULL', `an organisation has at most ${MAX_WEBHOOKS} webhooks; delete one first`)
}

export function webhookDisabled(): DomainError {
  return new DomainError('failed_precondition', 'WEBHOOK_DISABLED', 'the webhook is disabled; enable it first')
}

export function deliveryWaiting(): DomainError {
  return new DomainError(
    'failed_precondition',
    'DELIVERY_WAITING',
    'this delivery is still pending; it is retried automatically, and at once when the url changes',
  )
}
