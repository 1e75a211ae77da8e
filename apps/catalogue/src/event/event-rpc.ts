import type { Handlers } from '@vitascope/grpc'
import type { EventServiceService } from '@vitascope/proto/catalogue/v1/event'
import { requireService } from '../visibility.ts'
import { checkForeignEvent } from './event.ts'
import type { EventStore } from './event-store.ts'

export function eventHandlers(events: Pick<EventStore, 'take'>): Handlers<typeof EventServiceService> {
  return {
    async addEvent(event, { principal, signal }) {
      requireService(principal)
      await events.take(checkForeignEvent(event), signal)
      return {}
    },
  }
}
