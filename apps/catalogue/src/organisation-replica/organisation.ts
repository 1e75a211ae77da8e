import { DomainError, notFound } from '@vitascope/errors'
import { isId } from '@vitascope/request'

/** Limits of an organisation. If a limit is undefined, there is no limit. */
export interface Quota {
  /** Stored bytes. */
  bytes?: number | undefined
  /** Encoded minutes of sources that were accepted in a calendar month (UTC). */
  minutesPerMonth?: number | undefined
  /** Jobs that are active at the same time. */
  concurrentJobs?: number | undefined
}

/** The catalogue's replica of an organisation. */
export interface Organisation {
  organisationId: string
  revision: number
  active: boolean
  allowedIps: readonly string[]
  defaultSettingId: string
  defaultThemeId: string
  /** Undefined if the replica is older than the introduction of quotas. It then counts as unlimited. */
  quota: Quota | undefined
}

export interface OrganisationStore {
  find(organisationId: string, signal?: AbortSignal): Promise<Organisation | undefined>
  /**
   * Stores a replica if its revision is higher than that of the stored replica, or if it is equal and
   * only the new replica has a quota. An undefined quota does not overwrite a stored quota.
   */
  apply(organisation: Organisation, signal?: AbortSignal): Promise<void>
}

/** Reads the organisation from auth. Returns undefined if it does not exist. */
export type RequestFromAuth = (organisationId: string, signal?: AbortSignal) => Promise<Organisation | undefined>

export interface Organisations {
  /**
   * Returns the organisation from the replica, or from auth if the replica is missing or has no
   * quota. Throws ORGANISATION_NOT_FOUND.
   */
  require(organisationId: string, signal?: AbortSignal): Promise<Organisation>
  /** Throws like `require`, and ORGANISATION_INACTIVE if the organisation is not active. */
  requireActive(organisationId: string, signal?: AbortSignal): Promise<void>
}

export function createOrganisations(store: OrganisationStore, requestFromAuth: RequestFromAuth): Organisations {
  const require = async (organisationId: string, signal?: AbortSignal): Promise<Organisation> => {
    if (!isId(organisationId)) throw notFound('organisation', organisationId)
    const replica = await store.find(organisationId, signal)
    if (replica?.quota) return replica
    const current = await requestFromAuth(organisationId, signal)
    if (!current && replica) return replica
    if (!current) throw notFound('organisation', organisationId)
    await store.apply(current, signal)
    return current
  }
  return {
    require,
    async requireActive(organisationId, signal) {
      const { active } = await require(organisationId, signal)
      if (!active) throw new DomainError('failed_precondition', 'ORGANISATION_INACTIVE', 'the organisation is not active')
    },
  }
}
