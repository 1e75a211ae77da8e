import { notFound } from '@vitascope/errors'
import type { Transaction } from '@vitascope/postgres'
import type { Scope } from '@vitascope/principal'
import { isId } from '@vitascope/request'

export interface EntryKey {
  scope: Scope
  collaborationId: string
}

/**
 * Locks an entry against changes of it and of the number or order of its clips. Returns its id. Its
 * data must be read by a later statement, which sees changes committed while the lock was awaited.
 * Throws `not_found`.
 */
export async function lockEntry(
  tx: Transaction,
  { scope, collaborationId }: EntryKey,
  missing = { noun: 'collaboration', id: collaborationId },
): Promise<string> {
  const [row] = isId(collaborationId)
    ? await tx.query('select from entry where entry_id = $1 and ($2::bigint is null or organisation_id = $2) for update', [
        collaborationId,
        scope,
      ])
    : []
  if (!row) throw notFound(missing.noun, missing.id)
  return collaborationId
}
