import type { Query } from '@vitascope/postgres'
import { toContribution } from '../view/contribution.ts'
import { EVENT_COLUMNS, type EventRow, toEvent } from '../view/event-row.ts'
import { addContribution, emptyRollUps, type OrganisationDay, type RollUps } from '../view/roll-up.ts'
import { addEvent, combineParts, emptyPart, type ViewPart } from '../view/view.ts'

/** The counts of one video, computed from its events. */
export interface RebuiltVideo {
  videoId: string
  rollUps: Omit<RollUps, 'organisationDays'>
}

/** Sums over all videos. */
export interface RebuiltTotals {
  events: number
  views: number
  organisationDays: Map<string, OrganisationDay>
}

const ROWS_PER_FETCH = 1_000

/**
 * Yields the counts of each video, ordered by video id. Only one video is in memory at a time,
 * because a heatmap of one day takes 36 KB. It skips events that are not merged yet and views that
 * started before `since`, the first day with complete events.
 */
export async function* rebuildVideos(query: Query, since: string, totals: RebuiltTotals): AsyncGenerator<RebuiltVideo> {
  let video: (RebuiltVideo & { rollUps: RollUps }) | undefined
  let viewId: string | undefined
  let parts = new Map<number, ViewPart>()
  const endView = () => {
    const view = combineParts([...parts.values()])
    if (!view || !video) return
    totals.views++
    addContribution(video.rollUps, toContribution(view), 1)
  }
  await query(
    `declare stored_events no scroll cursor for select ${EVENT_COLUMNS} from event e
     where not exists (select from pending_batch p where p.batch_id = e.batch_id)
       and not exists (select from view v where v.view_id = e.view_id and v.video_id = e.video_id and v.first_ms < $1)
     order by video_id, view_id`.replace('$1', String(Date.parse(since))),
  )
  for (;;) {
    const rows = await query<EventRow>(`fetch ${ROWS_PER_FETCH} from stored_events`)
    if (rows.length === 0) break
    totals.events += rows.length
    for (const event of rows.map(toEvent)) {
      if (event.viewId !== viewId || event.videoId !== video?.videoId) {
        endView()
        viewId = event.viewId
        parts = new Map()
      }
      if (event.videoId !== video?.videoId) {
        if (video) yield video
        video = { videoId: event.videoId, rollUps: { ...emptyRollUps(), organisationDays: totals.organisationDays } }
      }
      const part = parts.get(event.durationMs) ?? emptyPart(event)
      addEvent(part, event)
      parts.set(event.durationMs, part)
    }
  }
  endView()
  if (video) yield video
  await query('close stored_events')
}
