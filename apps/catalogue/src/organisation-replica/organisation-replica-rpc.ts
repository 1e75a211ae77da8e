import { invalid, isDomainError } from '@vitascope/errors'
import { type Client, type Handlers, serviceCall } from '@vitascope/grpc'
import { requireService } from '@vitascope/principal'
import { type OrganisationServiceService, OrganisationStatus } from '@vitascope/proto/auth/v1/organisation'
import type { OrganisationReplicaServiceService } from '@vitascope/proto/catalogue/v1/organisation_replica'
import { isId } from '@vitascope/request'
import type { OrganisationStore, RequestFromAuth } from './organisation.ts'

export function organisationReplicaHandlers(organisations: OrganisationStore): Handlers<typeof OrganisationReplicaServiceService> {
  return {
    async applyOrganisation(organisation, { principal, signal }) {
      requireService(principal)
      if (!isId(organisation.organisationId)) throw invalid([{ field: 'organisation_id', message: 'must be an id' }])
      await organisations.apply({ ...organisation, quota: organisation.quota }, signal)
      return {}
    },
  }
}

export function createAuthLookup(auth: Client<typeof OrganisationServiceService>): RequestFromAuth {
  return async (organisationId, signal) => {
    try {
      const { organisation } = await auth.getOrganisation({ organisationId }, serviceCall('catalogue', '', signal))
      if (!organisation) throw new Error('auth returned no organisation')
      return {
        organisationId: organisation.organisationId,
        revision: organisation.revision,
        active: organisation.status === OrganisationStatus.ORGANISATION_STATUS_ACTIVE,
        allowedIps: organisation.allowedIps,
        defaultSettingId: organisation.defaultSettingId ?? '',
        defaultThemeId: organisation.defaultThemeId ?? '',
        quota: organisation.quota ?? {},
      }
    } catch (error) {
      if (isDomainError(error) && error.kind === 'not_found') return undefined
      throw error
    }
  }
}
