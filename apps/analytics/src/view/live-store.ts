import type { Query } from '@vitascope/postgres'
import { toArrayText } from './array-text.ts'

/** A view of which events arrived. */
export interface LiveView {
  organisationId: string
  videoId: string
  viewId: string
  /** Arrival time of the last event. */
  lastReceivedMs: number
  /** These are its first events. */
  isNew: boolean
  /** It started to play with these events. */
  startsToPlay: boolean
}

/** A view is live for this time after its last event. Events that are merged later than this are not counted as live. */
const MAX_AGE_MS = 120_000

/**
 * Stores when the last event of each view arrived, and adds the views to the counts of that minute. The
 * caller must hold the merge lock. It is one statement with one row for each view, video and organisation.
 * A view is active once in each minute: it is counted if its previous event arrived in an earlier minute. Of
 * the minutes of one merge, which runs every second, only the last one is counted.
 */
export async function updateLiveViews(query: Query, views: readonly LiveView[]): Promise<void> {
  await query(
    `with received as (
       select * from unnest($1::bigint[], $2::bigint[], $3::uuid[], $4::bigint[], $5::boolean[], $6::boolean[])
         as row (organisation_id, video_id, view_id, last_received_ms, is_new, starts_to_play)
       where last_received_ms > extract(epoch from now()) * 1000 - ${MAX_AGE_MS}
     ), counted as (
       select r.organisation_id, r.video_id, r.last_received_ms / 60000 * 60000 as minute_ms, r.is_new, r.starts_to_play,
         l.last_received_ms is null or l.last_received_ms / 60000 < r.last_received_ms / 60000 as is_active
       from received r left join live_view l using (organisation_id, video_id, view_id)
     ), saved as (
       insert into live_view (organisation_id, video_id, view_id, last_received_ms)
       select organisation_id, video_id, view_id, last_received_ms from received order by 1, 2, 3
       on conflict (organisation_id, video_id, view_id) do update
         set last_received_ms = greatest(live_view.last_received_ms, excluded.last_received_ms)
     )
     insert into live_minute (minute_ms, organisation_id, video_id, loads, plays, active)
     select minute_ms, organisation_id, video_id, count(*) filter (where is_new), count(*) filter (where starts_to_play),
       count(*) filter (where is_active)
     from (
       select minute_ms, organisation_id, video_id, is_new, starts_to_play, is_active from counted
       union all select minute_ms, organisation_id, 0, is_new, starts_to_play, is_active from counted
     ) levels
     where is_new or starts_to_play or is_active group by 1, 2, 3 order by 1, 2, 3
     on conflict (minute_ms, organisation_id, video_id) do update set
       loads = live_minute.loads + excluded.loads, plays = live_minute.plays + excluded.plays, active = live_minute.active + excluded.active`,
    [
      toArrayText(views, ({ organisationId }) => organisationId),
      toArrayText(views, ({ videoId }) => videoId),
      toArrayText(views, ({ viewId }) => viewId),
      toArrayText(views, ({ lastReceivedMs }) => lastReceivedMs),
      toArrayText(views, ({ isNew }) => String(isNew)),
      toArrayText(views, ({ startsToPlay }) => String(startsToPlay)),
    ],
  )
}
