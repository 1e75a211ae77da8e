import { notFound } from '@vitascope/errors'
import { isId, type Transaction } from '@vitascope/postgres'
import type { Scope } from '../visibility.ts'

export interface EntryKey {
  scope: Scope
  collaborationId: string
}

/**
 * Locks an entry and answers its id: whoever changes it, or the number or order of its clips, waits here. What is read of it must be
 * read by a later statement, which sees what was committed meanwhile.
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
