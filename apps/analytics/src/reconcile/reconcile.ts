import type { Db, Query } from '@vitascope/postgres'
import { countDimensions, listReferrers } from '../view/dimension-counts.ts'
import { findCountedReferrers } from '../view/dimension-store.ts'
import type { Counts } from '../view/roll-up.ts'
import { type RebuiltTotals, rebuildVideos } from './rebuild.ts'
import { type CountTable, readStoredCounts, type StoredCounts } from './stored-counts.ts'

/** A row whose stored counts differ from its events. */
export interface Difference {
  table: string
  /** Key of the row, for example `42 2026-01-31 en`. */
  key: string
  /** The different counts as `name: stored, rebuilt`. */
  counts: string[]
}

export interface Reconciliation {
  /** The first day with complete events. Undefined if there are no events. */
  since: string | undefined
  events: number
  views: number
  /** At most 1,000. */
  differences: Difference[]
}

/** Timeout of each SQL statement. It is long because one statement sorts all events. */
export const RECONCILE_TIMEOUT_MS = 600_000
/** Maximum number of reported differences. None are expected. */
const MAX_REPORTED = 1_000
const ORGANISATION_DAY: CountTable = { table: 'organisation_day', keys: ['organisation_id', 'day', 'language', 'subtitle'], fetch: 1_000 }
const VIDEO_DAY: CountTable = { table: 'video_day', keys: ['video_id', 'day', 'language'], fetch: 1_000 }
/** Each row has 2,000 numbers, so fewer rows are fetched at a time. */
const VIDEO_HEAT: CountTable = { table: 'video_heat', keys: ['video_id', 'day', 'duration_ms'], fetch: 100 }
const VIDEO_QUALITY: CountTable = { table: 'video_quality', keys: ['video_id', 'day'], fetch: 1_000 }
const VIDEO_DIMENSION: CountTable = { table: 'video_dimension', keys: ['video_id', 'dimension', 'day', 'value'], fetch: 1_000 }

/**
 * Rebuilds all counts from the events and compares them with the stored counts, in one snapshot.
 * It skips events that are not merged yet, days without complete events, and views that started on
 * such a day.
 */
export function reconcile(db: Db): Promise<Reconciliation> {
  return db.readOnly(async (query) => {
    await query('set transaction isolation level repeatable read')
    const [first] = await query<{ day: string | null }>(
      `select min(to_date(right(inhrelid::regclass::text, 8), 'YYYYMMDD'))::text as day from pg_inherits where inhparent = 'event'::regclass`,
    )
    if (!first?.day) return { since: undefined, events: 0, views: 0, differences: [] }
    const differences: Difference[] = []
    const report = (difference: Difference) => {
      if (differences.length < MAX_REPORTED) differences.push(difference)
    }
    const { events, views } = await compareRollUps(query, first.day, report)
    for (const difference of await compareViewers(query, first.day)) report(difference)
    for (const difference of await compareOrganisationDimensions(query, first.day)) report(difference)
    return { since: first.day, events, views, differences }
  })
}

type Report = (difference: Difference) => void
type Rows = Map<string, Counts<string, string>>

async function compareRollUps(query: Query, since: string, report: Report): Promise<RebuiltTotals> {
  const totals: RebuiltTotals = { events: 0, views: 0, organisationDays: new Map() }
  const startComparison = (table: CountTable) => {
    const stored = readStoredCounts(query, table, since)
    return (rows: Rows, maxId?: string) => compareRows({ ...table, stored, rows, report }, maxId)
  }
  const [compareDays, compareHeatmaps, compareQualities, compareDimensions] = [
    startComparison(VIDEO_DAY),
    startComparison(VIDEO_HEAT),
    startComparison(VIDEO_QUALITY),
    startComparison(VIDEO_DIMENSION),
  ]
  for await (const { videoId, rollUps } of rebuildVideos(query, since, totals)) {
    await compareDays(rollUps.videoDays, videoId)
    await compareHeatmaps(rollUps.heats, videoId)
    await compareQualities(rollUps.qualities, videoId)
    const clientDays = [...rollUps.clientDays.values()]
    const referrers = await findCountedReferrers(query, listReferrers(clientDays))
    await compareDimensions(countDimensions(clientDays, referrers).videos, videoId)
  }
  for (const compareRemaining of [compareDays, compareHeatmaps, compareQualities, compareDimensions]) await compareRemaining(new Map())
  await startComparison(ORGANISATION_DAY)(totals.organisationDays)
  return totals
}

/**
 * Compares the stored rows with the rebuilt rows, for keys up to `maxId`. Each call continues after
 * the last stored row of the previous call. A missing row is equal to a row of zeros.
 */
async function compareRows(
  { table, keys, stored, rows, report }: CountTable & { stored: StoredCounts; rows: Rows; report: Report },
  maxId: string | undefined,
): Promise<void> {
  const remaining = new Map(rows)
  const reportDifference = (key: string, storedCounts: Record<string, unknown>, rebuilt: Counts<string, string> | undefined) => {
    const counts = listDifferences(keys, storedCounts, rebuilt)
    if (counts.length > 0) report({ table, key: key.replaceAll('\n', ' '), counts })
  }
  for await (const { key, counts } of stored.readUpTo(maxId)) {
    reportDifference(key, counts, remaining.get(key))
    remaining.delete(key)
  }
  for (const [key, rebuilt] of remaining) reportDifference(key, {}, rebuilt)
}

function listDifferences(keys: readonly string[], stored: Record<string, unknown>, rebuilt: Counts<string, string> | undefined): string[] {
  const rebuiltCounts: Record<string, number | number[]> = { ...rebuilt?.numbers, ...rebuilt?.lists }
  const names = new Set(
    [...Object.keys(stored), ...Object.keys(rebuiltCounts)].filter((name) => !keys.includes(name) && name !== 'organisation_id'),
  )
  return [...names].flatMap((name) => {
    const [storedText, rebuiltText] = [formatCount(stored[name]), formatCount(rebuiltCounts[name])]
    return storedText === rebuiltText ? [] : [`${name}: ${storedText}, ${rebuiltText}`]
  })
}

/** Returns a count as text. A list of zeros and a missing count are equal to 0. */
function formatCount(count: unknown): string {
  if (Array.isArray(count)) return count.every((n) => n === 0) ? '0' : count.join(' ')
  return String(count ?? 0)
}

/** Compares the numbers of viewers. SQL counts the distinct visitors of the events. */
async function compareViewers(query: Query, since: string): Promise<Difference[]> {
  const rows = await query<{ row_key: string; stored: string; expected: string }>(
    `with visitors as (
       select distinct day, organisation_id, video_id, visitor from event e
       where type > 1 and visitor is not null and day >= $1 and not exists (select from pending_batch p where p.batch_id = e.batch_id)
     ), expected as (
       select organisation_id, video_id, day, count(*) as viewers from visitors group by 1, 2, 3
       union all select organisation_id, 0, day, count(distinct visitor) from visitors group by 1, 3
     ), stored as (select * from viewer_day where day >= $1)
     select organisation_id || ' ' || video_id || ' ' || day as row_key,
       coalesce(s.viewers, 0) as stored, coalesce(e.viewers, 0) as expected
     from expected e full join stored s using (organisation_id, video_id, day)
     where coalesce(s.viewers, 0) <> coalesce(e.viewers, 0) limit ${MAX_REPORTED}`,
    [since],
  )
  return rows.map(({ row_key, stored, expected }) => ({ table: 'viewer_day', key: row_key, counts: [`viewers: ${stored}, ${expected}`] }))
}

/** Compares the counts of organisations by dimension with the sums of their videos. */
async function compareOrganisationDimensions(query: Query, since: string): Promise<Difference[]> {
  const names = ['loads', 'plays', 'completes', 'bounces']
  const list = (table: string) => `array[${names.map((name) => `coalesce(${table}.${name}, 0)`).join(', ')}]::bigint[]`
  const rows = await query<{ row_key: string; stored: string[]; expected: string[] }>(
    `with expected as (
       select organisation_id, dimension, day, value, ${names.map((name) => `sum(${name}) as ${name}`).join(', ')}
       from video_dimension where day >= $1 group by 1, 2, 3, 4
     ), stored as (select * from organisation_dimension where day >= $1)
     select organisation_id || ' ' || dimension || ' ' || day || ' ' || value as row_key,
       ${list('s')} as stored, ${list('e')} as expected
     from expected e full join stored s using (organisation_id, dimension, day, value)
     where ${list('s')} <> ${list('e')} limit ${MAX_REPORTED}`,
    [since],
  )
  return rows.map(({ row_key, stored, expected }) => ({
    table: 'organisation_dimension',
    key: row_key,
    counts: names.flatMap((name, index) => (stored[index] === expected[index] ? [] : [`${name}: ${stored[index]}, ${expected[index]}`])),
  }))
}
