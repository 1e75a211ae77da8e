import { parseAddressRules } from '@vitascope/access'
import { DomainError } from '@vitascope/errors'
import type { Call, Principal } from '@vitascope/grpc'
import { isSystem, noGuests, onlySystem, type Within } from '../caller.ts'
import { inspection, isId, nothingThere, type Problem, textProblem } from '../input.ts'
import type { Page } from '../page.ts'

export interface Quota {
  bytes?: number | undefined
  minutesPerMonth?: number | undefined
  concurrentJobs?: number | undefined
}

/** What may be changed of an organisation. */
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

/** Each write leaves a message for the catalogue's copy in its transaction. */
export interface OrganisationStore {
  find(organisationId: string, signal: AbortSignal): Promise<Organisation | undefined>
  /** One row more than the page has, when there are more. */
  list(page: Page, activeOnly: boolean, signal: AbortSignal): Promise<Organisation[]>
  create(name: string, call: Call): Promise<Organisation>
  update(organisationId: string, change: Partial<OrganisationDetails>, signal: AbortSignal): Promise<Organisation | undefined>
}

/** Its name is "System"; the first start makes it. */
export const SYSTEM_ORGANISATION = '1'

const MOST_ALLOWED_IPS = 256

/** The only place that says whose organisation a caller may see. */
function visibleTo(caller: Principal): Within {
  noGuests(caller)
  return isSystem(caller) || caller.kind !== 'user' ? undefined : caller.organisationId
}

export async function getOrganisation(organisations: OrganisationStore, organisationId: string, { principal, signal }: Call) {
  const within = visibleTo(principal)
  const seen = isId(organisationId) && (within === undefined || within === organisationId)
  const organisation = seen ? await organisations.find(organisationId, signal) : undefined
  if (!organisation) throw nothingThere('organisation', organisationId)
  return organisation
}

export function listOrganisations(organisations: OrganisationStore, page: Page, activeOnly: boolean, { principal, signal }: Call) {
  onlySystem(principal)
  return organisations.list(page, activeOnly, signal)
}

export function createOrganisation(organisations: OrganisationStore, name: string, call: Call): Promise<Organisation> {
  onlySystem(call.principal)
  checkDetails({ name })
  return organisations.create(name, call)
}

/** `statusKnown` is false where the message names a status that is none. */
export async function updateOrganisation(
  organisations: OrganisationStore,
  { organisationId, change, statusKnown }: { organisationId: string; change: Partial<OrganisationDetails>; statusKnown: boolean },
  { principal, signal }: Call,
): Promise<Organisation> {
  onlySystem(principal)
  const known = isId(organisationId) ? await organisations.find(organisationId, signal) : undefined
  if (!known) throw nothingThere('organisation', organisationId)
  checkDetails(change, statusKnown)
  if (organisationId === SYSTEM_ORGANISATION && change.active === false) {
    throw new DomainError('refused', 'SYSTEM_ORGANISATION', 'the organisation of the system cannot be made inactive')
  }
  if (Object.keys(change).length === 0) return known
  const allowedIps = change.allowedIps?.map((text) => text.trim())
  const updated = await organisations.update(organisationId, { ...change, ...(allowedIps && { allowedIps }) }, signal)
  if (!updated) throw nothingThere('organisation', organisationId)
  return updated
}

function checkDetails(change: Partial<OrganisationDetails>, statusKnown = true): void {
  const input = inspection()
  if (change.name !== undefined) input.note('name', textProblem(change.name, { min: 1, max: 255 }))
  if (!statusKnown) input.note('status', 'must be active or inactive')
  for (const [field, id] of [
    ['default_setting_id', change.defaultSettingId],
    ['default_theme_id', change.defaultThemeId],
  ] as const) {
    if (id !== undefined && !isId(id)) input.note(field, 'must be an id')
  }
  if (change.allowedIps) {
    if (change.allowedIps.length > MOST_ALLOWED_IPS) input.note('allowed_ips', `must have at most ${MOST_ALLOWED_IPS} entries`)
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
