import type { Query } from '@vitascope/postgres'
import { countDimensions, listReferrers, type ReferrerDay, toReferrerKey } from './dimension-counts.ts'
import { findNonZeroRows, type RollUps } from './roll-up.ts'
import { addRows } from './roll-up-store.ts'

/** Maximum number of referrers of an organisation on a day. The views of further referrers count as `other`. */
const MAX_REFERRERS = 200

/**
 * Adds differences to the counts by dimension. The caller must hold the merge lock. A referrer gets a
 * row of its own while the organisation has fewer than `maxReferrers` on that day. The rows are never
 * deleted. Therefore a referrer without a row at the limit never gets one, and a later difference is
 * added to the same row as the count.
 */
export async function addDimensions(
  query: Query,
  differences: Pick<RollUps, 'clientDays'>,
  maxReferrers: number = MAX_REFERRERS,
): Promise<void> {
  const clientDays = findNonZeroRows(differences.clientDays)
  if (clientDays.length === 0) return
  const referrers = listReferrers(clientDays)
  const counted = await findCountedReferrers(query, referrers)
  const uncounted = referrers.filter((referrer) => !counted.has(toReferrerKey(referrer)))
  const free = await countFreeRows(query, uncounted, maxReferrers)
  for (const referrer of uncounted.toSorted((a, b) => b.loads - a.loads || (a.referrer < b.referrer ? -1 : 1))) {
    const day = toDayKey(referrer)
    const rows = free.get(day) ?? 0
    if (rows <= 0) continue
    free.set(day, rows - 1)
    counted.add(toReferrerKey(referrer))
  }
  const { organisations, videos } = countDimensions(clientDays, counted)
  await addRows(query, 'organisation_dimension', findNonZeroRows(organisations), {
    keys: { organisation_id: 'bigint', dimension: 'text', day: 'date', value: 'text' },
    getKey: ({ organisationId, dimension, day, value }) => [organisationId, dimension, day, value],
  })
  await addRows(query, 'video_dimension', findNonZeroRows(videos), {
    keys: { video_id: 'bigint', dimension: 'text', day: 'date', value: 'text' },
    otherColumns: { organisation_id: 'bigint' },
    getKey: ({ videoId, dimension, day, value, organisationId }) => [videoId, dimension, day, value, organisationId],
  })
}

/** Returns the keys of those referrers that have a row of their own. */
export async function findCountedReferrers(query: Query, referrers: readonly ReferrerDay[]): Promise<Set<string>> {
  if (referrers.length === 0) return new Set()
  const rows = await query<{ organisation_id: string; date: string; value: string }>(
    `select organisation_id, day::text as date, value
     from unnest($1::bigint[], $2::date[], $3::text[]) as searched (organisation_id, day, value)
       join organisation_dimension using (organisation_id, day, value) where dimension = 'referrer'`,
    [referrers.map(({ organisationId }) => organisationId), referrers.map(({ day }) => day), referrers.map(({ referrer }) => referrer)],
  )
  return new Set(rows.map((row) => toReferrerKey({ organisationId: row.organisation_id, day: row.date, referrer: row.value })))
}

/** Returns the number of referrers that can still get a row, for each organisation and day of `referrers`. */
async function countFreeRows(query: Query, referrers: readonly ReferrerDay[], maxReferrers: number): Promise<Map<string, number>> {
  const days = new Map(referrers.map((referrer) => [toDayKey(referrer), referrer]))
  const free = new Map([...days.keys()].map((key) => [key, maxReferrers]))
  if (days.size === 0) return free
  const rows = await query<{ organisation_id: string; date: string; referrers: string }>(
    `select organisation_id, day::text as date, count(*) as referrers
     from unnest($1::bigint[], $2::date[]) as searched (organisation_id, day) join organisation_dimension using (organisation_id, day)
     where dimension = 'referrer' and value not in ('', 'other') group by 1, 2`,
    [[...days.values()].map(({ organisationId }) => organisationId), [...days.values()].map(({ day }) => day)],
  )
  for (const row of rows) {
    free.set(toDayKey({ organisationId: row.organisation_id, day: row.date }), maxReferrers - Number(row.referrers))
  }
  return free
}

function toDayKey({ organisationId, day }: Pick<ReferrerDay, 'organisationId' | 'day'>): string {
  return `${organisationId}\n${day}`
}
