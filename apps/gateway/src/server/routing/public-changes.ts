import type { Client } from '@vitascope/grpc'
import type { VideoServiceService } from '@vitascope/proto/catalogue/v1/video'
import type { Logger } from '@vitascope/telemetry'
import { type Subscription, subscribe } from '../subscription/subscription.ts'
import type { GuestResponses } from './guest-responses.ts'

interface Parts {
  videos: Pick<Client<typeof VideoServiceService>, 'watchPublicChanges'>
  responses: Pick<GuestResponses, 'apply' | 'clear'>
  log: Logger
}

/** Subscribes to the changes of data that guests see, so that responses to guests can be cached. */
export function subscribeToPublicChanges({ videos, responses, log }: Parts): Subscription {
  return subscribe({
    topic: 'changes of public data',
    async read(call, onMessage) {
      for await (const changes of videos.watchPublicChanges({}, call)) {
        onMessage()
        responses.apply(changes)
      }
    },
    onEnd: () => responses.clear(),
    log,
  })
}
