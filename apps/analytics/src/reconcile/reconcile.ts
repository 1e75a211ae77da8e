import type { Db, Query } from '@vitascope/postgres'
import { EVENT_COLUMNS, type EventRow, toEvent } from '../event/event-row.ts'
import { contributionOf } from '../view/contribution.ts'
import { addContribution, type Counts, emptyRollUps, type RollUps } from '../view/roll-up.ts'
import { addEvent, emptyPart, type ViewPart, wholeView } from '../view/view.ts'

/** A count that is not what the events say. */
export interface Difference {
  table: string
  /** Of the row, such as `42 2026-01-31 en`. */
  key: string
  /** The counts that differ, as `name: stored, by the events`. */
  counts: string[]
}

export interface Reconciliation {
  /** The first day whose events are all there. */
  since: string | undefined
  events: number
  views: number
  differences: Difference[]
}

/** Rows fetched at once. */
const FETCH = 2_000
/** Differences that are told; there must be none. */
const MOST_TOLD = 1_000

/**
 * Rebuilds every count from the events and compares, in one snapshot of the database; events that are not yet counted are left out. Days whose
 * events are gone cannot be rebuilt, nor views that began on one of them.
 */
export function reconcile(db: Db, signal?: AbortSignal): Promise<Reconciliation> {
  return db.reading(async (query) => {
    await query('set transaction isolation level repeatable read')
    const [first] = await query<{ day: string | null }>(
      `select min(to_date(right(inhrelid::regclass::text, 8), 'YYYYMMDD'))::text as day from pg_inherits where inhparent = 'event'::regclass`,
    )
    if (!first?.day) return { since: undefined, events: 0, views: 0, differences: [] }
    const rebuilt = await rebuild(query, first.day, signal)
    const differences = [...(await compareRollUps(query, first.day, rebuilt.rollUps)), ...(await compareViewers(query, first.day))]
    return { since: first.day, events: rebuilt.events, views: rebuilt.views, differences: differences.slice(0, MOST_TOLD) }
  }, signal)
}

async function rebuild(query: Query, since: string, signal: AbortSignal | undefined) {
  const rollUps = emptyRollUps()
  let events = 0
  let views = 0
  let key = ''
  let parts = new Map<number, ViewPart>()
  const close = () => {
    const view = wholeView([...parts.values()])
    if (!view) return
    views++
    addContribution(rollUps, contributionOf(view), 1)
  }
  await query(
    `declare told no scroll cursor for select ${EVENT_COLUMNS} from event e
     where not exists (select from pending_batch p where p.batch_id = e.batch_id)
       and not exists (select from view v where v.view_id = e.view_id and v.video_id = e.video_id and v.first_ms < $1)
     order by view_id, video_id`.replace('$1', String(Date.parse(since))),
  )
  for (;;) {
    signal?.throwIfAborted()
    const rows = await query<EventRow>(`fetch ${FETCH} from told`)
    if (rows.length === 0) break
    events += rows.length
    for (const event of rows.map(toEvent)) {
      const of = `${event.viewId} ${event.videoId}`
      if (of !== key) {
        close()
        key = of
        parts = new Map()
      }
      const part = parts.get(event.durationMs) ?? emptyPart(event)
      addEvent(part, event)
      parts.set(event.durationMs, part)
    }
  }
  close()
  await query('close told')
  return { rollUps, events, views }
}

async function compareRollUps(query: Query, since: string, rollUps: RollUps): Promise<Difference[]> {
  return [
    ...(await compare(query, {
      table: 'organisation_day',
      keys: ['organisation_id', 'day', 'language', 'subtitle'],
      rows: rollUps.organisationDays,
      since,
    })),
    ...(await compare(query, { table: 'video_day', keys: ['video_id', 'day', 'language'], rows: rollUps.videoDays, since })),
    ...(await compare(query, { table: 'video_heat', keys: ['video_id', 'day', 'duration_ms'], rows: rollUps.heats, since })),
    ...(await compare(query, { table: 'video_quality', keys: ['video_id', 'day'], rows: rollUps.qualities, since })),
  ]
}

/** Names are constants of ours; a row that is missing is one of zeros. */
async function compare(
  query: Query,
  { table, keys, rows, since }: { table: string; keys: readonly string[]; rows: Map<string, Counts<string, string>>; since: string },
): Promise<Difference[]> {
  const differences: Difference[] = []
  const left = new Map(rows)
  const key = keys.map((name) => `${name}::text`).join(` || E'\\n' || `)
  await query(
    `declare stored no scroll cursor for select ${key} as row_key, to_jsonb(${table}) as counts from ${table} where day >= '${since}'`,
  )
  for (;;) {
    const found = await query<{ row_key: string; counts: Record<string, unknown> }>(`fetch ${FETCH} from stored`)
    if (found.length === 0) break
    for (const { row_key, counts } of found) {
      const rebuilt = left.get(row_key)
      left.delete(row_key)
      const different = differenceOf(keys, counts, rebuilt)
      if (different.length > 0) differences.push({ table, key: row_key.replaceAll('\n', ' '), counts: different })
    }
  }
  await query('close stored')
  for (const [row_key, rebuilt] of left) {
    const different = differenceOf(keys, {}, rebuilt)
    if (different.length > 0) differences.push({ table, key: row_key.replaceAll('\n', ' '), counts: different })
  }
  return differences
}

function differenceOf(keys: readonly string[], stored: Record<string, unknown>, rebuilt: Counts<string, string> | undefined): string[] {
  const right: Record<string, number | number[]> = { ...rebuilt?.numbers, ...rebuilt?.lists }
  const names = new Set(
    [...Object.keys(stored), ...Object.keys(right)].filter((name) => !keys.includes(name) && name !== 'organisation_id'),
  )
  return [...names].flatMap((name) => {
    const [is, should] = [written(stored[name]), written(right[name])]
    return is === should ? [] : [`${name}: ${is}, ${should}`]
  })
}

/** A list of zeros, and nothing, are as good as 0. */
function written(count: unknown): string {
  if (Array.isArray(count)) return count.every((n) => n === 0) ? '0' : count.join(' ')
  return String(count ?? 0)
}

/** Who watched is a set in itself: the database counts it again. */
async function compareViewers(query: Query, since: string): Promise<Difference[]> {
  const rows = await query<{ row_key: string; stored: string; counted: string }>(
    `with seen as (
       select distinct day, organisation_id, video_id, visitor from event e
       where type > 1 and visitor is not null and day >= $1 and not exists (select from pending_batch p where p.batch_id = e.batch_id)
     ), counted as (
       select organisation_id, video_id, day, count(*) as viewers from seen group by 1, 2, 3
       union all select organisation_id, 0, day, count(distinct visitor) from seen group by 1, 3
     ), stored as (select * from viewer_day where day >= $1)
     select organisation_id || ' ' || video_id || ' ' || day as row_key,
       coalesce(s.viewers, 0) as stored, coalesce(c.viewers, 0) as counted
     from counted c full join stored s using (organisation_id, video_id, day)
     where coalesce(s.viewers, 0) <> coalesce(c.viewers, 0) limit ${MOST_TOLD}`,
    [since],
  )
  return rows.map(({ row_key, stored, counted }) => ({ table: 'viewer_day', key: row_key, counts: [`viewers: ${stored}, ${counted}`] }))
}
