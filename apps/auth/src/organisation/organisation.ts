import { DomainError } from '@vitascope/errors'
import type { Call, Principal } from '@vitascope/grpc'
import { isSystem, requireAuthenticated, requireSystem } from '@vitascope/principal'
import { parseAddressRules } from '@vitascope/security'
import type { OrganisationScope } from '../rules/caller.ts'
import { inspection, isId, notFound, type Problem, textProblem } from '../rules/input.ts'
import type { Page } from '../rules/page.ts'

export interface Quota {
  bytes?: number | undefined
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
}

export interface Organisation extends OrganisationDetails {
  organisationId: string
  revision: number
  createTime: Date
  updateTime: Date
}

/** Each write adds a message for the catalogue's replica to the outbox, in the same transaction. */
export interface OrganisationStore {
  find(organisationId: string, signal: AbortSignal): Promise<Organisation | undefined>
  /** Returns one row more than the page if there are more. */
  list(page: Page, activeOnly: boolean, signal: AbortSignal): Promise<Organisation[]>
  create(name: string, call: Call): Promise<Organisation>
  update(organisationId: string, change: Partial<OrganisationDetails>, signal: AbortSignal): Promise<Organisation | undefined>
}

/** The organisation "System". The first start creates it. */
export const SYSTEM_ORGANISATION = '1'

const MAX_ALLOWED_IPS = 256

/** Returns the scope in which a caller may read organisations. This is the only place that decides it. */
function visibleTo(caller: Principal): OrganisationScope {
  requireAuthenticated(caller)
  return isSystem(caller) || caller.kind !== 'user' ? undefined : caller.organisationId
}

export async function getOrganisation(organisations: OrganisationStore, organisationId: string, { principal, signal }: Call) {
  const scope = visibleTo(principal)
  const isVisible = isId(organisationId) && (scope === undefined || scope === organisationId)
  const organisation = isVisible ? await organisations.find(organisationId, signal) : undefined
  if (!organisation) throw notFound('organisation', organisationId)
  return organisation
}

export function listOrganisations(organisations: OrganisationStore, page: Page, activeOnly: boolean, { principal, signal }: Call) {
  requireSystem(principal)
  return organisations.list(page, activeOnly, signal)
}

export function createOrganisation(organisations: OrganisationStore, name: string, call: Call): Promise<Organisation> {
  requireSystem(call.principal)
  checkDetails({ name })
  return organisations.create(name, call)
}

/** Changes an organisation. `isStatusValid` is false if the message contains an invalid status. */
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
    throw new DomainError('refused', 'SYSTEM_ORGANISATION', 'the system organisation cannot be made inactive')
  }
  if (Object.keys(change).length === 0) return current
  const allowedIps = change.allowedIps?.map((text) => text.trim())
  const updated = await organisations.update(organisationId, { ...change, ...(allowedIps && { allowedIps }) }, signal)
  if (!updated) throw notFound('organisation', organisationId)
  return updated
}

function checkDetails(change: Partial<OrganisationDetails>, isStatusValid = true): void {
  const input = inspection()
  if (change.name !== undefined) input.note('name', textProblem(change.name, { min: 1, max: 255 }))
  if (!isStatusValid) input.note('status', 'must be active or inactive')
  for (const [field, id] of [
    ['default_setting_id', change.defaultSettingId],
    ['default_theme_id', change.defaultThemeId],
  ] as const) {
    if (id !== undefined && !isId(id)) input.note(field, 'must be an id')
  }
  if (change.allowedIps) {
    if (change.allowedIps.length > MAX_ALLOWED_IPS) input.note('allowed_ips', `must have at most ${MAX_ALLOWED_IPS} entries`)
    else for (const { field, message } of parseAddressRules(change.allowedIps).errors ?? []) input.note(field, message)
  }
  input.note('quota.bytes', amountProblem(change.quota?.bytes))
  input.note('quota.minutes_per_month', amountProblem(change.quota?.minutesPerMonth))
  input.note('quota.concurrent_jobs', amountProblem(change.quota?.concurrentJobs))
  input.check()
}

function amountProblem(amount: number | undefined): Problem {
  return amount === undefined || (Number.isSafeInteger(amount) && amount >= 0) ? undefined : 'must be a whole number, 0 or more'
}
