import type { Query } from '@vitascope/postgres'

/**
 * Part of every statement that says what is to be removed from storage now: nothing is while a backup copies. What such a statement found before
 * the hold began had been given up by then, so that no snapshot taken after it names it.
 */
export const NOT_HELD = 'not exists (select from sweep_hold where end_time > now())'

/** Whether objects must stay for now; what was given up meanwhile goes later. */
export async function isSweepHeld(query: Query): Promise<boolean> {
  const [row] = await query<{ is_held: boolean }>(`select not (${NOT_HELD}) as is_held`)
  return row?.is_held ?? false
}
