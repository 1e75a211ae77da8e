import type { Schemas } from '@vitascope/sdk'

export type EventType = Schemas['CreateWebhookPayload']['events'][number]
/** All events that a webhook can receive. */
export const EVENTS: readonly EventType[] = [
  ...(['video.created', 'video.playable', 'video.ready', 'video.failed', 'video.deleted', 'media.replaced'] as const),
  ...(['caption.created', 'presentation.ready', 'key.expiring', 'delivery.throttled'] as const),
  ...(['playback_rules.changed', 'playback_key.changed'] as const),
]
