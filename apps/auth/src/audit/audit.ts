import { type FieldError, requireValid } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import { requireService } from '@vitascope/principal'
import { isId, isStorable } from '@vitascope/request'
import { requireOwnOrganisation, requireSuperUser } from '../rules/caller.ts'
import { isEntryId } from './entry-id.ts'

/** One write request of the API. The organisation, user and key are empty for a request without a key. */
export interface AuditEntry {
  entryId: string
  organisationId: string
  userId: string
  keyStart: string
  action: string
  object: string
  requestId: string
  address: string
}

export interface AuditOutcome {
  entryId: string
  status: number
  createdId: string
}

/** The filter of a list. Undefined fields do not filter. */
export interface AuditFilter {
  organisationId: string | undefined
  userId: string | undefined
  action: string | undefined
  object: string | undefined
  /** Entries at this time are included. */
  from: Date | undefined
  /** Entries at this time are excluded. */
  until: Date | undefined
}

export interface AuditPage {
  entries: readonly AuditEntry[]
  /** The next page contains entries with smaller ids. Undefined on the last page. */
  next: string | undefined
}

export interface AuditStore {
  /** Stores entries and outcomes in one transaction. Existing rows are not changed. */
  append(entries: readonly AuditEntry[], outcomes: readonly AuditOutcome[], signal: AbortSignal): Promise<void>
  /**
   * Returns entries with ids below `before`, newest first. Each call scans a limited part of the log.
   * A page can therefore have few entries although `next` is set.
   */
  list(filter: AuditFilter, page: { size: number; before: string | undefined }, signal: AbortSignal): Promise<AuditPage>
}

/** Maximum number of entries, and of outcomes, in one call. */
const MAX_APPENDED = 1_000
/** Maximum length of each text. The gateway sends shorter texts. */
const MAX_TEXT_LENGTH = 1_000

export async function appendEntries(
  log: AuditStore,
  { entries, outcomes }: { entries: readonly AuditEntry[]; outcomes: readonly AuditOutcome[] },
  { principal, signal }: Call,
): Promise<void> {
  requireService(principal)
  requireValid([
    ...checkRows('entries', entries),
    ...checkRows('outcomes', outcomes),
    ...(entries.every(isValidEntry) ? [] : [{ field: 'entries', message: 'must have ids and texts that can be stored' }]),
  ])
  await log.append(entries, outcomes, signal)
}

function checkRows(field: string, rows: readonly { entryId: string }[]): FieldError[] {
  return [
    ...(rows.length > MAX_APPENDED ? [{ field, message: `must have at most ${MAX_APPENDED} items` }] : []),
    ...(rows.every(({ entryId }) => isEntryId(entryId)) ? [] : [{ field, message: 'must have ids that are UUIDs of version 7' }]),
  ]
}

function isValidEntry({ organisationId, userId, ...entry }: AuditEntry): boolean {
  const texts = [entry.keyStart, entry.action, entry.object, entry.requestId, entry.address]
  return (
    [organisationId, userId].every((id) => id === '' || isId(id)) &&
    texts.every((text) => text.length <= MAX_TEXT_LENGTH && isStorable(text))
  )
}

/**
 * Returns entries. System users get all entries, super users get the entries of their organisation.
 * Throws for other callers.
 */
export async function listEntries(
  log: AuditStore,
  filter: AuditFilter,
  page: { size: number; before: string | undefined },
  { principal, signal }: Call,
): Promise<AuditPage> {
  const scope = requireSuperUser(principal)
  if (filter.organisationId !== undefined) requireOwnOrganisation(scope, filter.organisationId)
  const organisationId = filter.organisationId ?? scope
  const ids = [organisationId, filter.userId].filter((id) => id !== undefined)
  const texts = [filter.action, filter.object].filter((text) => text !== undefined)
  // A text that cannot be stored matches no entry.
  if (!ids.every(isId) || !texts.every(isStorable)) return { entries: [], next: undefined }
  return await log.list({ ...filter, organisationId }, page, signal)
}
