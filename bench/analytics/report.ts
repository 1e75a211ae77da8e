import { asSuperuser } from '../../e2e/support/database.ts'
import type { TestPlatform } from '../../e2e/support/test-platform.ts'
import { createTenant, type Tenant } from '../../e2e/support/video-steps.ts'
import type { Figure } from '../figure.ts'
import { median, medianRatio } from '../ratio.ts'

const FEW_VIEWS = 10_000
const VIDEOS = 100
const DAYS = 365
const LANGUAGES = ['en', 'de', 'fr']
const REQUESTS_PER_SAMPLE = 20

/**
 * Compares a year's per-day report of an organisation with many views with one of the same days,
 * videos and languages with few views.
 */
export async function compareReports(platform: TestPlatform, options: { views: number; pairs: number; goal: number }): Promise<Figure> {
  const { views, pairs, goal } = options
  const [few, many] = [await createTenant(platform.system), await createTenant(platform.system)]
  const end = new Date()
  for (const [tenant, count] of [
    [few, FEW_VIEWS],
    [many, views],
  ] as const) {
    const started = performance.now()
    await insertViews(platform, tenant, count)
    console.log(`report: ${count} views filled in ${((performance.now() - started) / 1_000).toFixed(0)} s`)
  }
  const from = new Date(end.getTime() - (DAYS - 1) * 86_400_000).toISOString().slice(0, 10)
  const measureReport = async ({ key, organisationId }: Tenant) => {
    const times: number[] = []
    for (let nth = 0; nth < REQUESTS_PER_SAMPLE; nth++) {
      const started = performance.now()
      const path = `/analytics/views/${organisationId}/per-day?date_start=${from}&date_end=${end.toISOString().slice(0, 10)}`
      const { status, body } = await platform.withKey(key).get<unknown[]>(path)
      times.push(performance.now() - started)
      if (status !== 200 || body.length < DAYS - 1) throw new Error(`${status}: ${body.length} days`)
    }
    return median(times)
  }
  for (const tenant of [few, many]) await measureReport(tenant)
  const times: { few: number; many: number }[] = []
  for (let pair = 0; pair < pairs; pair++) {
    const first = pair % 2 === 0 ? await measureReport(few) : undefined
    const large = await measureReport(many)
    times.push({ few: first ?? (await measureReport(few)), many: large })
  }
  return {
    ...{ row: 'report', title: `a year's per-day report over ${views} views, against ${FEW_VIEWS} views` },
    ...{ value: medianRatio(times.map((pair) => pair.many / pair.few)), goal: { atMost: goal } },
    detail: `${median(times.map((pair) => pair.many)).toFixed(1)} ms, ${median(times.map((pair) => pair.few)).toFixed(1)} ms`,
  }
}

/** Inserts views and their counts, as the merge leaves them, without events. */
async function insertViews(platform: TestPlatform, { organisationId }: Tenant, views: number): Promise<void> {
  await asSuperuser(platform, async (client) => {
    await client.query('set search_path = analytics')
    const first = `${organisationId}000000`
    await client.query(
      `insert into video (video_id, organisation_id, duration_ms) select $1::bigint + n, $2, 60000 from generate_series(1, $3::int) n`,
      [first, organisationId, VIDEOS],
    )
    await client.query(
      `insert into view (view_id, video_id, duration_ms, organisation_id, first_ms, last_ms, played, furthest_ms, buckets, watched, rewatched, language,
         language_ms, subtitle, subtitle_ms, failed)
       select gen_random_uuid(), $1::bigint + 1 + n % $3::int, 60000, $2, t, t + 30000, true, 30000, 1023, '\\x0000003fffffff'::bytea, ''::bytea,
         ($4::text[])[1 + n % cardinality($4::text[])], t, '', t, false
       from (select n, (extract(epoch from current_date)::bigint - (n::bigint * 7919 % $5::int) * 86400) * 1000 as t from generate_series(1, $6::bigint) n) made`,
      [first, organisationId, VIDEOS, LANGUAGES, DAYS, views],
    )
    await client.query(
      `insert into organisation_day (organisation_id, day, language, subtitle, loads, plays, completes, bounces)
       select organisation_id, (to_timestamp(first_ms / 1000) at time zone 'UTC')::date, language, subtitle, count(*), count(*), 0, 0
       from view where organisation_id = $1 group by 1, 2, 3, 4`,
      [organisationId],
    )
    await client.query('analyze view, organisation_day, video')
  })
}
