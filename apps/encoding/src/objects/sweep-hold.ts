import type { Query } from '@vitascope/postgres'

/**
 * SQL condition of every statement that selects objects to delete: none while a backup copies
 * objects. Objects selected before the hold began were dropped before it, so no later snapshot
 * refers to them.
 */
export const NO_SWEEP_HOLD = 'not exists (select from sweep_hold where end_time > now())'

/** Returns true while objects must be kept. Objects dropped in the meantime are deleted later. */
export async function isSweepPaused(query: Query): Promise<boolean> {
  const [row] = await query<{ is_held: boolean }>(`select not (${NO_SWEEP_HOLD}) as is_held`)
  return row?.is_held ?? false
}
