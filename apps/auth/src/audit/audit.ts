import type { Call } from '@vitascope/grpc'
import { onlyOwnOrganisation, onlyServices, onlySuperUsers } from '../caller.ts'
import { inspection, isId, isStorable } from '../input.ts'
import { isEntryId } from './entry-id.ts'

/** One write, as it was asked for. Texts are empty without a key. */
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
  madeId: string
}

/** What must hold of an entry; what is undefined leaves nothing out. */
export interface AuditFilter {
  organisationId: string | undefined
  userId: string | undefined
  action: string | undefined
  object: string | undefined
  /** Not before. */
  from: Date | undefined
  until: Date | undefined
}

export interface AuditPage {
  entries: readonly AuditEntry[]
  /** The id to go on below; undefined at the end. */
  next: string | undefined
}

export interface AuditStore {
  /** Both in one transaction; what is there already stays as it is. */
  append(entries: readonly AuditEntry[], outcomes: readonly AuditOutcome[], signal: AbortSignal): Promise<void>
  /** Newest first, below the id `before`. Looks at a bounded part of the log, so it may answer fewer than there are, with `next`. */
  list(filter: AuditFilter, page: { size: number; before: string | undefined }, signal: AbortSignal): Promise<AuditPage>
}

const MOST_APPENDED = 1_000
/** More than any of these texts has. */
const LONGEST_TEXT = 1_000

export async function appendEntries(
  log: AuditStore,
  { entries, outcomes }: { entries: readonly AuditEntry[]; outcomes: readonly AuditOutcome[] },
  { principal, signal }: Call,
): Promise<void> {
  onlyServices(principal)
  const input = inspection()
  for (const [field, rows] of [
    ['entries', entries],
    ['outcomes', outcomes],
  ] as const) {
    if (rows.length > MOST_APPENDED) input.note(field, `must be ${MOST_APPENDED} at most`)
    if (!rows.every(({ entryId }) => isEntryId(entryId))) input.note(field, 'must have ids that are UUIDs of version 7')
  }
  if (!entries.every(isWhole)) input.note('entries', 'must have ids and texts that can be stored')
  input.check()
  await log.append(entries, outcomes, signal)
}

function isWhole({ organisationId, userId, ...entry }: AuditEntry): boolean {
  const texts = [entry.keyStart, entry.action, entry.object, entry.requestId, entry.address]
  return (
    [organisationId, userId].every((id) => id === '' || isId(id)) && texts.every((text) => text.length <= LONGEST_TEXT && isStorable(text))
  )
}

/** System callers see all; super users what was written with keys of their organisation. */
export async function listEntries(
  log: AuditStore,
  filter: AuditFilter,
  page: { size: number; before: string | undefined },
  { principal, signal }: Call,
): Promise<AuditPage> {
  const within = onlySuperUsers(principal)
  if (filter.organisationId !== undefined) onlyOwnOrganisation(within, filter.organisationId)
  const organisationId = filter.organisationId ?? within
  const ids = [organisationId, filter.userId].filter((id) => id !== undefined)
  const texts = [filter.action, filter.object].filter((text) => text !== undefined)
  // What cannot be stored was never written.
  if (!ids.every(isId) || !texts.every(isStorable)) return { entries: [], next: undefined }
  return await log.list({ ...filter, organisationId }, page, signal)
}
