import { randomUUID } from 'node:crypto'
import { isDomainError } from '@vitascope/errors'
import { serviceCall } from '@vitascope/grpc'
import type { ThrottleEvent } from '@vitascope/rate-limit'
import type { Services } from './services.ts'

/** Returns the calls that report rejected requests for files to the catalogue. */
export function throttleCalls({ playbackPolicies, events }: Pick<Services, 'playbackPolicies' | 'events'>) {
  return {
    async findOrganisation(videoId: string, signal: AbortSignal): Promise<string | undefined> {
      try {
        return (await playbackPolicies.getPlaybackPolicy({ videoId }, serviceCall('gateway', randomUUID(), signal))).organisationId
      } catch (error) {
        if (isDomainError(error) && error.kind === 'not_found') return undefined
        throw error
      }
    },
    addEvent: (event: ThrottleEvent, signal: AbortSignal) => events.addEvent(event, serviceCall('gateway', randomUUID(), signal)),
  }
}
