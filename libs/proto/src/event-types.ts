/** The event types that webhooks can subscribe to, as receivers see them. */
export const EVENT_TYPES = [
  'video.created',
  'video.playable',
  'video.ready',
  'video.failed',
  'video.deleted',
  'media.replaced',
  'caption.created',
  'presentation.ready',
  'key.expiring',
  'delivery.throttled',
  'playback_rules.changed',
  'playback_key.changed',
] as const

export type EventType = (typeof EVENT_TYPES)[number]

export function isEventType(text: string): text is EventType {
  return EVENT_TYPES.some((type) => type === text)
}
