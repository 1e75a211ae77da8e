import { notFound } from '@vitascope/errors'
import type { Transaction } from '@vitascope/postgres'

/**
 * Throws VIDEO_NOT_FOUND if a profile references a new pre-roll or post-roll video that does not
 * exist in its organisation. Videos that it referenced before are not checked, because they may
 * have been deleted.
 */
export async function requirePrePostRolls(tx: Transaction, organisationId: string, rolls: string, before = ''): Promise<void> {
  const referencedIds = new Set(parseVideoIds(before))
  const newIds = [...new Set(parseVideoIds(rolls))].filter((id) => !referencedIds.has(id))
  if (newIds.length === 0) return
  const rows = await tx.query<{ video_id: string }>(
    'select video_id from video where video_id = any($1::bigint[]) and organisation_id = $2',
    [newIds, organisationId],
  )
  const existingIds = new Set(rows.map((row) => row.video_id))
  const missingId = newIds.find((id) => !existingIds.has(id))
  if (missingId !== undefined) throw notFound('video', missingId)
}

function parseVideoIds(rolls: string): readonly string[] {
  if (rolls === '') return []
  // Lists of ids, validated before they were stored.
  const { pre = [], post = [] } = JSON.parse(rolls) as { pre?: string[]; post?: string[] }
  return [...pre, ...post]
}
