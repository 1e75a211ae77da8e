import { DomainError, notFound } from '@vitascope/errors'

/** What an organisation may use at most; an absent limit is none. */
export interface Quota {
  /** Stored. */
  bytes?: number | undefined
  /** Encoded of what was accepted in a calendar month (UTC). */
  minutesPerMonth?: number | undefined
  /** Under way at once. */
  concurrentJobs?: number | undefined
}

/** What the catalogue keeps of an organisation. */
export interface Organisation {
  organisationId: string
  revision: number
  active: boolean
  allowedIps: readonly string[]
  defaultSettingId: string
  defaultThemeId: string
  /** Undefined while nobody has told: copies that are older than quotas. It then counts as none. */
  quota: Quota | undefined
}

export interface OrganisationStore {
  find(organisationId: string, signal?: AbortSignal): Promise<Organisation | undefined>
  /** Takes a copy, unless the one that is there is as new, and tells as much. A quota that is not told stays as it is known. */
  apply(organisation: Organisation, signal?: AbortSignal): Promise<void>
}

/** Asks auth; undefined when there is no such organisation. */
export type AskAuth = (organisationId: string, signal?: AbortSignal) => Promise<Organisation | undefined>

export interface Organisations {
  /** The organisation, from the copy or, the first time, from auth; refuses with ORGANISATION_NOT_FOUND. */
  need(organisationId: string, signal?: AbortSignal): Promise<Organisation>
}

export function createOrganisations(store: OrganisationStore, askAuth: AskAuth): Organisations {
  return {
    async need(organisationId, signal) {
      const known = await store.find(organisationId, signal)
      if (known?.quota) return known
      const asked = await askAuth(organisationId, signal)
      if (!asked && known) return known
      if (!asked) throw notFound('organisation', organisationId)
      await store.apply(asked, signal)
      return asked
    },
  }
}

export function requireActive(organisation: Organisation): void {
  if (!organisation.active) throw new DomainError('refused', 'ORGANISATION_INACTIVE', 'the organisation is not active')
}
