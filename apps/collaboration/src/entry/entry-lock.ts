import { notFound } from '@vitascope/errors'
import type { Transaction } from '@vitascope/postgres'
import type { Scope } from '@vitascope/principal'
import { isId } from '@vitascope/request'

export interface EntryKey {
  scope: Scope
  collaborationId: string
}

/**
 * Locks an entry, so that other transactions cannot change it or the number or order of its clips.
 * Returns its id. The caller must read its data with a later statement, to see changes that were
 * committed while this one waited for the lock. Throws `not_found`.
 */
export async function lockEntry(
  tx: Transaction,
  { scope, collaborationId }: EntryKey,
  record = { noun: 'collaboration', id: collaborationId },
): Promise<string> {
  const [row] = isId(collaborationId)
    ? await tx.query('select from entry where entry_id = $1 and ($2::bigint is null or organisation_id = $2) for update', [
        collaborationId,
        scope,
      ])
    : []
  if (!row) throw notFound(record.noun, record.id)
  return collaborationId
}
