import { randomUUID } from 'node:crypto'
import { type Channel, serviceCall } from '@vitascope/grpc'
import type { OutboxHandlers } from '@vitascope/postgres'
import { ApplyOrganisationRequest, OrganisationReplicaServiceService } from '@vitascope/proto/catalogue/v1/organisation_replica'
import { ORGANISATION_CHANGED, type OrganisationChanged } from './organisation-store.ts'

/** Returns the outbox handler that sends changed organisations to the catalogue. The catalogue ignores old revisions. */
export function organisationOutboxHandlers(catalogue: Channel): OutboxHandlers {
  const replica = catalogue.client(OrganisationReplicaServiceService)
  return {
    async [ORGANISATION_CHANGED](payload: OrganisationChanged, signal) {
      const { allowedIps, quota, ...fields } = payload
      const request = ApplyOrganisationRequest.fromPartial({ ...fields, allowedIps: [...allowedIps], ...(quota && { quota }) })
      await replica.applyOrganisation(request, serviceCall('auth', randomUUID(), signal))
    },
  }
}
