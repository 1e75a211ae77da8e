import { DomainError, type FieldError, notFound, requireValid } from '@vitascope/errors'
import type { Call, Principal } from '@vitascope/grpc'
import { isSystem, requireAuthenticated, requireSystem } from '@vitascope/principal'
import { checkText, isId, type PagePosition } from '@vitascope/request'
import { parseAddressRules } from '@vitascope/security'
import type { OrganisationScope } from '../rules/caller.ts'

/** Limits of an organisation. An undefined field means unlimited. */
export interface Quota {
  /** Stored bytes, renditions included. */
  bytes?: number | undefined
  /** Minutes of source video that are accepted in a calendar month (UTC). */
  minutesPerMonth?: number | undefined
  concurrentJobs?: number | undefined
}

/** The changeable fields of an organisation. */
export interface OrganisationDetails {
  name: string
  active: boolean
  defaultSettingId: string | undefined
  defaultThemeId: string | undefined
  allowedIps: readonly string[]
  quota: Quota
  /** Whether everyone may open the page with its public videos. */
  publicPage: boolean
}

export interface Organisation extends OrganisationDetails {
  organisationId: string
  revision: number
  createTime: Date
  updateTime: Date
}

/** Each write adds a message for the catalogue to the outbox in the same transaction. */
export interface OrganisationStore {
  find(organisationId: string, signal: AbortSignal): Promise<Organisation | undefined>
  list(page: PagePosition, activeOnly: boolean, signal: AbortSignal): Promise<Organisation[]>
  create(name: string, call: Call): Promise<Organisation>
  update(organisationId: string, change: Partial<OrganisationDetails>, signal: AbortSignal): Promise<Organisation | undefined>
}

/** The organisation "System". The first start creates it. */
export const SYSTEM_ORGANISATION = '1'

const MAX_ALLOWED_IPS = 256

/** Returns the scope in which a caller may read organisations. */
function visibleScope(caller: Principal): OrganisationScope {
  requireAuthenticated(caller)
  return isSystem(caller) || caller.kind !== 'user' ? undefined : caller.organisationId
}

export async function getOrganisation(organisations: OrganisationStore, organisationId: string, { principal, signal }: Call) {
  const scope = visibleScope(principal)
  const isVisible = isId(organisationId) && (scope === undefined || scope === organisationId)
  const organisation = isVisible ? await organisations.find(organisationId, signal) : undefined
  if (!organisation) throw notFound('organisation', organisationId)
  return organisation
}

export function listOrganisations(organisations: OrganisationStore, page: PagePosition, activeOnly: boolean, { principal, signal }: Call) {
  requireSystem(principal)
  return organisations.list(page, activeOnly, signal)
}

export function createOrganisation(organisations: OrganisationStore, name: string, call: Call): Promise<Organisation> {
  requireSystem(call.principal)
  checkDetails({ name })
  return organisations.create(name, call)
}

/** Changes an organisation. `isStatusValid` is false if the request contains an invalid status. */
export async function updateOrganisation(
  organisations: OrganisationStore,
  { organisationId, change, isStatusValid }: { organisationId: string; change: Partial<OrganisationDetails>; isStatusValid: boolean },
  { principal, signal }: Call,
): Promise<Organisation> {
  requireSystem(principal)
  const current = isId(organisationId) ? await organisations.find(organisationId, signal) : undefined
  if (!current) throw notFound('organisation', organisationId)
  checkDetails(change, isStatusValid)
  if (organisationId === SYSTEM_ORGANISATION && change.active === false) {
    throw new DomainError('failed_precondition', 'SYSTEM_ORGANISATION', 'the system organisation cannot be made inactive')
  }
  if (Object.keys(change).length === 0) return current
  const allowedIps = change.allowedIps?.map((text) => text.trim())
  const updated = await organisations.update(organisationId, { ...change, ...(allowedIps && { allowedIps }) }, signal)
  if (!updated) throw notFound('organisation', organisationId)
  return updated
}

function checkDetails(
  { name, defaultSettingId, defaultThemeId, allowedIps, quota }: Partial<OrganisationDetails>,
  isStatusValid = true,
): void {
  requireValid([
    ...(name === undefined ? [] : checkText('name', name, { max: 255, blank: false })),
    ...(isStatusValid ? [] : [{ field: 'status', message: 'must be active or inactive' }]),
    ...checkDefaultId('default_setting_id', defaultSettingId),
    ...checkDefaultId('default_theme_id', defaultThemeId),
    ...checkAllowedIps('allowed_ips', allowedIps ?? []),
    ...checkAmount('quota.bytes', quota?.bytes),
    ...checkAmount('quota.minutes_per_month', quota?.minutesPerMonth),
    ...checkAmount('quota.concurrent_jobs', quota?.concurrentJobs),
  ])
}

function checkDefaultId(field: string, id: string | undefined): FieldError[] {
  return id === undefined || isId(id) ? [] : [{ field, message: 'must be an id' }]
}

function checkAllowedIps(field: string, rules: readonly string[]): readonly FieldError[] {
  if (rules.length > MAX_ALLOWED_IPS) return [{ field, message: `must have at most ${MAX_ALLOWED_IPS} entries` }]
  return parseAddressRules(rules).errors ?? []
}

function checkAmount(field: string, amount: number | undefined): FieldError[] {
  const isValid = amount === undefined || (Number.isSafeInteger(amount) && amount >= 0)
  return isValid ? [] : [{ field, message: 'must be a whole number, 0 or more' }]
}
