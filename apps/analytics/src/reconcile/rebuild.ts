import type { Query } from '@vitascope/postgres'
import { EVENT_COLUMNS, type EventRow, toEvent } from '../event/event-row.ts'
import { contributionOf } from '../view/contribution.ts'
import { addContribution, emptyRollUps, type OrganisationDay, type RollUps } from '../view/roll-up.ts'
import { addEvent, emptyPart, type ViewPart, wholeView } from '../view/view.ts'

/** What the events of one video say. */
export interface RebuiltVideo {
  videoId: string
  rollUps: Omit<RollUps, 'organisationDays'>
}

/** What grows while videos are rebuilt one after another. */
export interface Rebuilt {
  events: number
  views: number
  organisationDays: Map<string, OrganisationDay>
}

/** Rows fetched at once. */
const FETCH = 1_000

/**
 * The counts of every video by its events, in the order of their ids: a heatmap of a day takes 36 KB, so those of one video are there at a time. Events
 * that are not counted yet are left out, and so are views that began before `since`, the first day whose events are all there.
 */
export async function* rebuildVideos(query: Query, since: string, rebuilt: Rebuilt): AsyncGenerator<RebuiltVideo> {
  let video: (RebuiltVideo & { rollUps: RollUps }) | undefined
  let viewId: string | undefined
  let parts = new Map<number, ViewPart>()
  const endView = () => {
    const view = wholeView([...parts.values()])
    if (!view || !video) return
    rebuilt.views++
    addContribution(video.rollUps, contributionOf(view), 1)
  }
  await query(
    `declare told no scroll cursor for select ${EVENT_COLUMNS} from event e
     where not exists (select from pending_batch p where p.batch_id = e.batch_id)
       and not exists (select from view v where v.view_id = e.view_id and v.video_id = e.video_id and v.first_ms < $1)
     order by video_id, view_id`.replace('$1', String(Date.parse(since))),
  )
  for (;;) {
    const rows = await query<EventRow>(`fetch ${FETCH} from told`)
    if (rows.length === 0) break
    rebuilt.events += rows.length
    for (const event of rows.map(toEvent)) {
      if (event.viewId !== viewId || event.videoId !== video?.videoId) {
        endView()
        viewId = event.viewId
        parts = new Map()
      }
      if (event.videoId !== video?.videoId) {
        if (video) yield video
        video = { videoId: event.videoId, rollUps: { ...emptyRollUps(), organisationDays: rebuilt.organisationDays } }
      }
      const part = parts.get(event.durationMs) ?? emptyPart(event)
      addEvent(part, event)
      parts.set(event.durationMs, part)
    }
  }
  endView()
  if (video) yield video
  await query('close told')
}
