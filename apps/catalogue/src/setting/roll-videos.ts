import { notFound } from '@vitascope/errors'
import type { Transaction } from '@vitascope/postgres'

/**
 * Refuses when a profile newly names a video before or after others that its organisation does not have; those of others are as ones that are
 * not there. What it named before may have been deleted since, and does no harm.
 */
export async function needRollVideos(tx: Transaction, organisationId: string, rolls: string, before = ''): Promise<void> {
  const known = new Set(idsOf(before))
  const newIds = [...new Set(idsOf(rolls))].filter((id) => !known.has(id))
  if (newIds.length === 0) return
  const rows = await tx.query<{ video_id: string }>(
    'select video_id from video where video_id = any($1::bigint[]) and organisation_id = $2',
    [newIds, organisationId],
  )
  const found = new Set(rows.map((row) => row.video_id))
  const missing = newIds.find((id) => !found.has(id))
  if (missing !== undefined) throw notFound('video', missing)
}

function idsOf(rolls: string): readonly string[] {
  if (rolls === '') return []
  // Lists of ids: checked before they were stored.
  const { pre = [], post = [] } = JSON.parse(rolls) as { pre?: string[]; post?: string[] }
  return [...pre, ...post]
}
