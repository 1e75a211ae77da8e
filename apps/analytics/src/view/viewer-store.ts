import type { Query } from '@vitascope/postgres'
import type { VisitorDay } from './view-batch.ts'

/** Adds the visitors that are new on a day to the counts of videos and organisations. Video 0 is the organisation. */
export async function addViewers(query: Query, visitorDays: readonly VisitorDay[]): Promise<void> {
  if (visitorDays.length === 0) return
  await query(
    `with visitors as (
       select * from unnest($1::date[], $2::bigint[], $3::bigint[], $4::bytea[]) as row (day, organisation_id, video_id, visitor)
     ), new_visitors as (
       insert into viewer (day, organisation_id, video_id, visitor)
       select distinct day, organisation_id, video_id, visitor from
         (select * from visitors union all select day, organisation_id, 0, visitor from visitors) levels
       order by 1, 2, 3, 4
       on conflict do nothing
       returning day, organisation_id, video_id
     )
     insert into viewer_day (organisation_id, video_id, day, viewers)
     select organisation_id, video_id, day, count(*) from new_visitors group by 1, 2, 3 order by 1, 2, 3
     on conflict (organisation_id, video_id, day) do update set viewers = viewer_day.viewers + excluded.viewers`,
    [
      visitorDays.map(({ day }) => day),
      visitorDays.map(({ organisationId }) => organisationId),
      visitorDays.map(({ videoId }) => videoId),
      visitorDays.map(({ visitor }) => `\\x${visitor}`),
    ],
  )
}
