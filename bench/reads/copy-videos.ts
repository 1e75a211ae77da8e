import { asSuperuser } from '../../e2e/support/database.ts'
import type { TestPlatform } from '../../e2e/support/test-platform.ts'
import type { FilledOrganisation } from '../overload/filled-platform.ts'

export interface Copies {
  ids: string[]
  organisationId: string
}

/**
 * Creates `count` copies of the first playable video. Triggers are off, because they would take minutes.
 * The first `own` copies belong to the organisation of the video. The others are spread evenly over
 * `organisationIds`.
 */
export function copyVideos(
  platform: TestPlatform,
  filled: readonly FilledOrganisation[],
  count: number,
  others: { own: number; organisationIds: readonly string[] } = { own: count, organisationIds: [] },
): Promise<Copies> {
  return asSuperuser(platform, async (client) => {
    await client.query(`set session_replication_role = replica; set search_path = catalogue`)
    const { rows } = await client.query<{ video_id: string; organisation_id: string }>(
      `with copies as (
         insert into video select (jsonb_populate_record(v, jsonb_build_object('video_id', n, 'organisation_id',
           case when n <= $3 then v.organisation_id else ($4::bigint[])[1 + n % cardinality($4::bigint[])] end))).*
         from video v, generate_series(1, $2::int) n where v.video_id = $1 returning video_id, organisation_id, state
       ), counted as (
         insert into video_count (organisation_id, state, videos) select organisation_id, state, count(*) from copies group by 1, 2
       )
       select video_id::text, organisation_id::text from copies`,
      [filled[0]?.videoId, count, others.own, others.organisationIds],
    )
    await client.query('analyze video')
    return { ids: rows.map(({ video_id }) => video_id), organisationId: `${rows[0]?.organisation_id}` }
  })
}
