import type { Query } from '@vitascope/postgres'

/**
 * SQL condition that is false while a backup copies objects. The backup then holds a row of the table
 * `sweep_hold`. Every statement that selects objects to delete has this condition. Objects that were
 * selected before the hold may be deleted during it: their rows were marked as dropped before the hold,
 * so the snapshot of the backup, which is taken during the hold, does not refer to them.
 */
export const NO_SWEEP_HOLD = 'not exists (select from sweep_hold where end_time > now())'

/**
 * Returns true while a backup copies objects, so that none may be deleted. Objects that are dropped in
 * the meantime are deleted by a later sweep.
 */
export async function isSweepPaused(query: Query): Promise<boolean> {
  const [row] = await query<{ is_held: boolean }>(`select not (${NO_SWEEP_HOLD}) as is_held`)
  return row?.is_held ?? false
}
