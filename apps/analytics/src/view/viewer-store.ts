import type { Query } from '@vitascope/postgres'
import type { VisitorDay } from './view-batch.ts'

/** Counts the visitors that are new on a day, per video and (as video 0) per organisation. */
export async function addViewers(query: Query, seen: readonly VisitorDay[]): Promise<void> {
  if (seen.length === 0) return
  await query(
    `with seen as (
       select * from unnest($1::date[], $2::bigint[], $3::bigint[], $4::bytea[]) as row (day, organisation_id, video_id, visitor)
     ), fresh as (
       insert into viewer (day, organisation_id, video_id, visitor)
       select distinct day, organisation_id, video_id, visitor from
         (select * from seen union all select day, organisation_id, 0, visitor from seen) both_levels
       order by 1, 2, 3, 4
       on conflict do nothing
       returning day, organisation_id, video_id
     )
     insert into viewer_day (organisation_id, video_id, day, viewers)
     select organisation_id, video_id, day, count(*) from fresh group by 1, 2, 3 order by 1, 2, 3
     on conflict (organisation_id, video_id, day) do update set viewers = viewer_day.viewers + excluded.viewers`,
    [
      seen.map(({ day }) => day),
      seen.map(({ organisationId }) => organisationId),
      seen.map(({ videoId }) => videoId),
      seen.map(({ visitor }) => `\\x${visitor}`),
    ],
  )
}
