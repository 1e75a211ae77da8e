import type { Db, Query } from '@vitascope/postgres'
import type { Metrics } from '@vitascope/telemetry'
import type { ViewPart } from './view.ts'
import type { BatchedView } from './view-batch.ts'

/** Number of organisations in the metric. */
const MAX_ORGANISATIONS = 10

/** Adds the events of a batch, and the views that it has added, to the counts of each organisation for today. */
export async function addGrowth(query: Query, views: Iterable<BatchedView>, added: readonly ViewPart[]): Promise<void> {
  const growth = new Map<string, { events: number; views: number }>()
  const findOrAddCounts = (organisationId: string) => {
    const counts = growth.get(organisationId) ?? { events: 0, views: 0 }
    growth.set(organisationId, counts)
    return counts
  }
  for (const { organisationId, events } of views) findOrAddCounts(organisationId).events += events
  for (const { organisationId } of added) findOrAddCounts(organisationId).views++
  const rows = [...growth]
  await query(
    `insert into organisation_growth as stored (day, organisation_id, events, views)
     select (now() at time zone 'utc')::date, * from unnest($1::bigint[], $2::bigint[], $3::bigint[]) order by 2
     on conflict (day, organisation_id) do update set events = stored.events + excluded.events, views = stored.views + excluded.views`,
    [rows.map(([organisationId]) => organisationId), rows.map(([, { events }]) => events), rows.map(([, counts]) => counts.views)],
  )
}

/** Registers a gauge of the rows that events added today, for the organisations with the most rows. */
export function registerGrowthMetrics(db: Db, metrics: Metrics): void {
  metrics.gauge(
    'vitascope_analytics_organisation_rows',
    'Rows that events added since midnight UTC, for the ten organisations with the most',
    ['organisation_id', 'rows'],
    async (gauge) => {
      // Removes the values of organisations that are not among the first ten any more.
      gauge.reset()
      try {
        const top = await db.query<{ organisation_id: string; events: string; views: string }>(
          `select organisation_id, events, views from organisation_growth
         where day = (now() at time zone 'utc')::date order by events + views desc limit $1`,
          [MAX_ORGANISATIONS],
        )
        for (const { organisation_id, events, views } of top) {
          gauge.set({ organisation_id, rows: 'events' }, Number(events))
          gauge.set({ organisation_id, rows: 'views' }, Number(views))
        }
      } catch {
        // Other metrics are reported while the database is unavailable.
      }
    },
  )
}
