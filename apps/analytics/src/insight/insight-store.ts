import type { Db } from '@vitascope/postgres'
import type { PagePosition } from '@vitascope/request'
import type { Period } from '../report/period.ts'

export interface Heatmap {
  durationMs: number
  watched: number[]
  rewatched: number[]
}

export interface QualityDay {
  day: string
  views: number
  started: number
  startupMs: number
  stalled: number
  stalls: number
  stalledMs: number
  switches: number
  failed: number
}

/** Counts of the views of one minute. */
export interface Minute {
  /** Start of the minute. */
  startMs: number
  loads: number
  plays: number
  active: number
}

export interface InsightStore {
  /** Returns the heatmap for the most frequent duration of the video. A replaced source can change the duration. */
  findHeatmap(videoId: string, period: Period): Promise<Heatmap | undefined>
  /** Returns the number of live views, the videos with the most of them, and the number of recent views. */
  countLiveViews(organisationId: string): Promise<{ views: number; videos: { videoId: string; views: number }[]; recentViews: number }>
  /**
   * Returns a row for each of the last 30 minutes, oldest first: of one video, or of all videos if
   * `videoId` is empty. The last one is the current minute. It reads at most 30 rows, each by the
   * primary key.
   */
  listMinutes(organisationId: string, videoId: string): Promise<Minute[]>
  listViewerDays(
    organisationId: string,
    videoId: string,
    period: Period,
    page: PagePosition,
  ): Promise<{ day: string; uniqueViewers: number }[]>
  listQualityDays(videoId: string, period: Period, page: PagePosition): Promise<QualityDay[]>
  /** Reads a row for each video and day, because the rows of organisations have no quality: about 0.1 s for 70,000 rows. */
  listOrganisationQualityDays(organisationId: string, period: Period, page: PagePosition): Promise<QualityDay[]>
  /** Removes up to `limit` live views without an event in the last five minutes, and returns their number. */
  removeInactiveViews(limit: number): Promise<number>
  /** Removes up to `limit` rows of minutes that are not listed any more, and returns their number. */
  removeOldMinutes(limit: number): Promise<number>
}

/** A view is live for this time after its last event. The times are those of this process, not of the database. */
const LIVE_MS = 60_000
/** A view is recent for this time after its last event. Then its row is removed. */
const INACTIVE_MS = 300_000
/** Maximum number of videos that `countLiveViews` returns. */
const MAX_LIVE_VIDEOS = 100
const MINUTE_MS = 60_000
/** Number of minutes that `listMinutes` returns. */
const LISTED_MINUTES = 30

/** Sums of the playback quality of a day. */
const QUALITY_NAMES = ['views', 'started', 'startup_ms', 'stalled', 'stalls', 'stalled_ms', 'switches', 'failed'] as const
type QualityRow = Record<(typeof QUALITY_NAMES)[number] | 'date', string>

export function createInsightStore(db: Db, now: () => number = Date.now): InsightStore {
  return {
    async findHeatmap(videoId, { dateStart, dateEnd }) {
      const [row] = await db.query<{ duration_ms: number; watched: string[]; rewatched: string[] }>(
        `with rows as (select * from video_heat where video_id = $1 and day between $2 and $3),
         most_frequent as (select duration_ms from rows group by 1 having sum(views) > 0 order by sum(views) desc, duration_ms desc limit 1),
         cells as (
           select cell, sum(counts.watched) as watched, sum(counts.rewatched) as rewatched
           from rows join most_frequent using (duration_ms),
             unnest(rows.watched, rows.rewatched) with ordinality as counts (watched, rewatched, cell) group by cell
         )
         select duration_ms, array_agg(watched order by cell) as watched, array_agg(rewatched order by cell) as rewatched
         from most_frequent, cells group by duration_ms`,
        [videoId, dateStart, dateEnd],
      )
      return row && { durationMs: row.duration_ms, watched: row.watched.map(Number), rewatched: row.rewatched.map(Number) }
    },
    async countLiveViews(organisationId) {
      const rows = await db.query<{ video_id: string; views: string; all_views: string }>(
        `select video_id, count(*) as views, sum(count(*)) over () as all_views from live_view
         where organisation_id = $1 and last_received_ms > $2 group by video_id order by count(*) desc, video_id limit ${MAX_LIVE_VIDEOS}`,
        [organisationId, now() - LIVE_MS],
      )
      const [recent] = await db.query<{ views: string }>(
        'select count(*) as views from live_view where organisation_id = $1 and last_received_ms > $2',
        [organisationId, now() - INACTIVE_MS],
      )
      return {
        views: Number(rows[0]?.all_views ?? 0),
        videos: rows.map(({ video_id, views }) => ({ videoId: video_id, views: Number(views) })),
        recentViews: Number(recent?.views ?? 0),
      }
    },
    async listMinutes(organisationId, videoId) {
      const lastMs = Math.floor(now() / MINUTE_MS) * MINUTE_MS
      const starts = Array.from({ length: LISTED_MINUTES }, (_, index) => lastMs - (LISTED_MINUTES - 1 - index) * MINUTE_MS)
      // One lookup in the primary key for each minute, whatever the number of videos and views.
      const rows = await db.query<Record<'minute_ms' | 'loads' | 'plays' | 'active', string>>(
        `select minute_ms, loads, plays, active from live_minute
         where minute_ms = any ($1::bigint[]) and organisation_id = $2 and video_id = $3`,
        [starts, organisationId, videoId || '0'],
      )
      const minutes = new Map(rows.map((row) => [Number(row.minute_ms), row]))
      return starts.map((startMs) => {
        const row = minutes.get(startMs)
        return { startMs, loads: Number(row?.loads ?? 0), plays: Number(row?.plays ?? 0), active: Number(row?.active ?? 0) }
      })
    },
    async listViewerDays(organisationId, videoId, { dateStart, dateEnd }, { after, limit, skip }) {
      const rows = await db.query<{ date: string; viewers: string }>(
        `select day::text as date, viewers from viewer_day
         where organisation_id = $1 and video_id = $2 and day between $3 and $4 and day > $5 order by day limit $6 offset $7`,
        [organisationId, videoId || '0', dateStart, dateEnd, after, limit, skip],
      )
      return rows.map(({ date, viewers }) => ({ day: date, uniqueViewers: Number(viewers) }))
    },
    async listQualityDays(videoId, { dateStart, dateEnd }, { after, limit, skip }) {
      const rows = await db.query<QualityRow>(
        `select day::text as date, ${QUALITY_NAMES.join(', ')} from video_quality
         where video_id = $1 and day between $2 and $3 and day > $4 and views > 0 order by day limit $5 offset $6`,
        [videoId, dateStart, dateEnd, after, limit, skip],
      )
      return rows.map(toQualityDay)
    },
    async listOrganisationQualityDays(organisationId, { dateStart, dateEnd }, { after, limit, skip }) {
      // One range of the primary key of `video_quality` for each video of the organisation. Parallel workers would
      // delay all other requests, and hash and merge joins would read the rows of all organisations.
      const rows = await db.readOnly(async (query) => {
        await query(
          `select set_config('max_parallel_workers_per_gather', '0', true), set_config('enable_hashjoin', 'off', true),
             set_config('enable_mergejoin', 'off', true)`,
        )
        return await query<QualityRow>(
          `select day::text as date, ${QUALITY_NAMES.map((name) => `sum(${name}) as ${name}`).join(', ')}
           from video join video_quality using (video_id)
           where organisation_id = $1 and day between $2 and $3 and day > $4
           group by day having sum(views) > 0 order by day limit $5 offset $6`,
          [organisationId, dateStart, dateEnd, after, limit, skip],
        )
      })
      return rows.map(toQualityDay)
    },
    async removeInactiveViews(limit) {
      // The table has no index on the time, because it only contains views of the last minutes.
      const rows = await db.query(
        'delete from live_view where last_received_ms < $1 and ctid = any (array(select ctid from live_view where last_received_ms < $1 limit $2)) returning 1',
        [now() - INACTIVE_MS, limit],
      )
      return rows.length
    },
    async removeOldMinutes(limit) {
      const rows = await db.query(
        `delete from live_minute where ctid = any (array(select ctid from live_minute where minute_ms < $1 limit $2)) returning 1`,
        [now() - (LISTED_MINUTES + 1) * MINUTE_MS, limit],
      )
      return rows.length
    },
  }
}

function toQualityDay(row: QualityRow): QualityDay {
  return {
    day: row.date,
    views: Number(row.views),
    started: Number(row.started),
    startupMs: Number(row.startup_ms),
    stalled: Number(row.stalled),
    stalls: Number(row.stalls),
    stalledMs: Number(row.stalled_ms),
    switches: Number(row.switches),
    failed: Number(row.failed),
  }
}
