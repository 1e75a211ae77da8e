import { DomainError, notFound } from '@vitascope/errors'
import { isId } from '@vitascope/request'

/** Limits of an organisation. An absent limit means unlimited. */
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
  /** Undefined if unknown, in replicas that are older than quotas. Unknown counts as unlimited. */
  quota: Quota | undefined
}

export interface OrganisationStore {
  find(organisationId: string, signal?: AbortSignal): Promise<Organisation | undefined>
  /**
   * Stores a replica if its revision is higher than the stored one, or if it is equal and only the
   * new replica has a quota. An undefined quota does not overwrite a known one.
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
    const known = await store.find(organisationId, signal)
    if (known?.quota) return known
    const received = await requestFromAuth(organisationId, signal)
    if (!received && known) return known
    if (!received) throw notFound('organisation', organisationId)
    await store.apply(received, signal)
    return received
  }
  return {
    require,
    async requireActive(organisationId, signal) {
      const { active } = await require(organisationId, signal)
      if (!active) throw new DomainError('failed_precondition', 'ORGANISATION_INACTIVE', 'the organisation is not active')
    },
  }
}
