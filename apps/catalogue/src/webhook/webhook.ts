import { DomainError, type FieldError, invalid } from '@vitascope/errors'
import { EVENT_TYPES, isEventType } from '../event/event.ts'
import { checkText } from '../text.ts'

/** An address that is told of an organisation's events. */
export interface Webhook extends WebhookFields {
  webhookId: string
  organisationId: string
  /** Empty unless the platform disabled it. */
  disabledReason: string
  createTime: Date
}

export interface WebhookFields {
  url: string
  events: string[]
  /** False: nothing is queued, and what waits stands still. */
  enabled: boolean
}

/** One event on its way to one webhook; a `note` is never sent. */
export interface Delivery {
  deliveryId: string
  event: string
  createTime: Date
  attempt: number
  state: 'waiting' | 'delivered' | 'failed' | 'note'
  responseCode: number | undefined
}

/** What an address itself shows to be wrong, as sentences. */
export type CheckAddress = (url: string) => readonly string[]

export const WEBHOOKS_MOST = 20
const URL_CHARACTERS = 2_000
const FIELDS = ['url', 'events', 'enabled'] as const

/** Refuses with every bad field; each type stands once afterwards. */
export function checkWebhook<Fields extends WebhookFields>(fields: Fields, checkAddress: CheckAddress): Fields {
  const long = checkText('url', fields.url, { min: 1, max: URL_CHARACTERS })
  const shows = long.length > 0 ? [] : checkAddress(fields.url)
  const problems: FieldError[] = [...long, ...(shows.length > 0 ? [{ field: 'url', message: shows.join('; ') }] : [])]
  if (fields.events.length === 0) problems.push({ field: 'events', message: 'must not be empty' })
  if (!fields.events.every(isEventType)) problems.push({ field: 'events', message: `must be of: ${EVENT_TYPES.join(', ')}` })
  if (problems.length > 0) throw invalid(problems)
  return { ...fields, events: [...new Set(fields.events)] }
}

/** The fields with those that the mask names taken from `given`. */
export function mergeWebhook(now: WebhookFields, given: WebhookFields, mask: readonly string[], checkAddress: CheckAddress): WebhookFields {
  const unknown = mask
    .filter((path) => !FIELDS.some((field) => field === path))
    .map((path) => ({ field: 'update_mask', message: `names no field: ${path.slice(0, 100)}` }))
  if (unknown.length > 0) throw invalid(unknown)
  const pick = (field: (typeof FIELDS)[number]) => (mask.includes(field) ? given : now)
  const fields = { url: pick('url').url, events: pick('events').events, enabled: pick('enabled').enabled }
  // An address that was good once is judged at each call.
  return checkWebhook(fields, mask.includes('url') ? checkAddress : () => [])
}

export function webhooksFull(): DomainError {
  return new DomainError('refused', 'WEBHOOKS_FULL', `an organisation has at most ${WEBHOOKS_MOST} webhooks: delete one of them first`)
}

export function webhookDisabled(): DomainError {
  return new DomainError('refused', 'WEBHOOK_DISABLED', 'the webhook is disabled: enable it first')
}

export function deliveryWaiting(): DomainError {
  return new DomainError(
    'refused',
    'DELIVERY_WAITING',
    'this delivery has not ended yet: it is tried by itself, and at once when the url is changed',
  )
}
