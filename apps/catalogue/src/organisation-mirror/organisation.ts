import { DomainError, notFound } from '@vitascope/errors'

/** What the catalogue keeps of an organisation. */
export interface Organisation {
  organisationId: string
  revision: number
  active: boolean
  allowedIps: readonly string[]
  defaultSettingId: string
  defaultThemeId: string
}

export interface OrganisationStore {
  find(organisationId: string, signal?: AbortSignal): Promise<Organisation | undefined>
  /** Takes a copy, unless the one that is there is as new. */
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
      if (known) return known
      const asked = await askAuth(organisationId, signal)
      if (!asked) throw notFound('organisation', organisationId)
      await store.apply(asked, signal)
      return asked
    },
  }
}

export function requireActive(organisation: Organisation): void {
  if (!organisation.active) throw new DomainError('refused', 'ORGANISATION_INACTIVE', 'the organisation is not active')
}
