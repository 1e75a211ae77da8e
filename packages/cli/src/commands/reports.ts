import type { Context } from '../context.ts'
import { printObject, printRows } from '../output.ts'

export interface PeriodFlags {
  from?: string
  to?: string
  perDay?: boolean
}

/** Prints the views of the organisation in a period. */
export async function showViews({ from, to, perDay }: PeriodFlags, context: Context): Promise<void> {
  const { vitascope, output, signal } = context
  const path = { organisation_id: context.requireOrganisation() }
  const query = { ...(from !== undefined && { date_start: from }), ...(to !== undefined && { date_end: to }) }
  if (!perDay) {
    printObject(output, { ...(await vitascope.call('getViews', { path, query, signal })) })
    return
  }
  const days = await vitascope.list('listViewsByDay', { path, query, signal }).toArray(10_000)
  printRows(output, days, ['day', 'player_loads', 'video_plays', 'complete_views', 'bounced_views'])
}

export interface ExplainFlags {
  kind: string
  address: string
  referrer?: string
  token?: string
  at?: string
}

/** Prints how a request of a viewer would be decided. Returns whether it is allowed. */
export async function explain(videoId: string, flags: ExplainFlags, { vitascope, output, signal }: Context): Promise<boolean> {
  const { kind, address, referrer, token, at } = flags
  const payload = {
    ...{ video_id: videoId, kind: kind as 'segment', address },
    ...(referrer !== undefined && { referrer }),
    ...(token !== undefined && { token }),
    ...(at !== undefined && { at }),
  }
  const decision = await vitascope.call('explainPlaybackDecision', { payload, signal })
  printObject(output, { ...decision })
  return decision.allowed
}
