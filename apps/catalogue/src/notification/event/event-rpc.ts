import type { Handlers } from '@vitascope/grpc'
import { requireService } from '@vitascope/principal'
import type { EventServiceService } from '@vitascope/proto/catalogue/v1/event'
import { checkServiceEvent } from './event.ts'
import type { EventStore } from './event-store.ts'

export function eventHandlers(events: Pick<EventStore, 'addFromService'>): Handlers<typeof EventServiceService> {
  return {
    async addEvent(event, { principal, signal }) {
      requireService(principal)
      await events.addFromService(checkServiceEvent(event), signal)
      return {}
    },
  }
}
