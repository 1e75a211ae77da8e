import type { Db, Query } from '@vitascope/postgres'
import type { PagePosition } from '@vitascope/request'
import { BUCKETS } from '../view/contribution.ts'
import type { Dimension } from '../view/dimension.ts'
import type { Period } from './period.ts'

/** Numbers of views. */
export interface Counts {
  /** Number of views, with or without playback. */
  playerLoads: number
  /** Views in which playback started. */
  videoPlays: number
  /** Played views that reached at least 95 % of the duration. */
  completeViews: number
  /** Played views that did not pass 10 % of the duration. */
  bouncedViews: number
}

/** Sums over played views. */
export interface WatchedSums {
  /** Distinct watched time, in millionths of the duration. */
  sharePpm: number
  /** Distinct watched time in milliseconds. */
  viewingMs: number
  /** 21 numbers, for 0, 5, … 100 %: views that watched a moment between this position and 5 % after it. */
  buckets: number[]
  /** 21 numbers for the same positions: views whose furthest position is in this part. */
  furthestBuckets: number[]
}

export interface CountedVideo {
  videoId: string
  counts: Counts
}

export interface WatchedVideo extends CountedVideo {
  sums: WatchedSums
}

/**
 * Reads the daily counts (roll-ups). Days, languages and dimension values without a view in the period are omitted.
 * `page.after` is the last day or video id of the previous page.
 */
export interface ReportStore {
  /** Returns up to 1,000 video or subtitle languages, by descending number of views. */
  listLanguages(organisationId: string, period: Period, column: 'language' | 'subtitle'): Promise<{ language: string; counts: Counts }[]>
  /** Returns up to 1,000 languages of one video, by descending number of views. */
  listVideoLanguages(videoId: string, period: Period): Promise<{ language: string; counts: Counts }[]>
  /**
   * Returns up to 1,000 values of a dimension, by descending number of views: of all videos of an
   * organisation, or of one video.
   */
  listDimension(owner: DimensionOwner, period: Period, dimension: Dimension): Promise<{ value: string; counts: Counts }[]>
  getOrganisationTotal(organisationId: string, period: Period): Promise<Counts>
  getVideosTotal(videoIds: readonly string[], period: Period): Promise<Counts>
  listOrganisationDays(organisationId: string, period: Period, page: PagePosition): Promise<{ day: string; counts: Counts }[]>
  listVideosDays(videoIds: readonly string[], period: Period, page: PagePosition): Promise<ViewingDay[]>
  /**
   * Returns the days of an organisation with their viewing time. It sums the rows of all its videos,
   * because the rows of organisations have no viewing time.
   */
  listOrganisationViewingDays(organisationId: string, period: Period, page: PagePosition): Promise<ViewingDay[]>
  /** Returns the ids of an organisation's videos that have views, in ascending order. A non-empty `videoIds` restricts them. */
  listViewedVideoIds(filter: VideoFilter, page: PagePosition): Promise<string[]>
  /** Returns the same ids by descending number of views. It sums the rows of all these videos. */
  listMostViewedVideoIds(filter: VideoFilter, page: { limit: number; skip: number }): Promise<string[]>
  /** Returns the counts of each video by ascending id. Empty `languages` means all languages. */
  countVideos(videoIds: readonly string[], period: Period, languages: readonly string[]): Promise<CountedVideo[]>
  /**
   * Returns counts and sums of each video like `countVideos`. One query reads both, because an average
   * is a sum divided by a count.
   */
  countWatchedVideos(videoIds: readonly string[], period: Period, languages: readonly string[]): Promise<WatchedVideo[]>
}

export interface ViewingDay {
  day: string
  counts: Counts
  viewingSeconds: number
}

/** One video, or all videos of an organisation. */
export type DimensionOwner = { organisationId: string } | { videoId: string }

export interface VideoFilter {
  organisationId: string
  period: Period
  videoIds: readonly string[]
  /** Empty for all languages. */
  languages: readonly string[]
}

interface SumRow {
  loads: string
  plays: string
  completes: string
  bounces: string
}

const SUMS = `coalesce(sum(loads), 0) as loads, coalesce(sum(plays), 0) as plays,
  coalesce(sum(completes), 0) as completes, coalesce(sum(bounces), 0) as bounces`
/** Maximum number of languages in a report, which is rarely reached. */
const MAX_LANGUAGES = 1_000
/** Maximum number of values in a report. Only the referrers of many days can exceed it. */
const MAX_VALUES = 1_000

export function createReportStore(db: Db): ReportStore {
  /**
   * Runs a statement without parallel workers, because a report with parallel workers delays all
   * other requests.
   */
  const withoutParallelWorkers: Query = (text, values) =>
    db.readOnly(async (query) => {
      await query('set local max_parallel_workers_per_gather = 0')
      return await query(text, values)
    })
  return {
    async listLanguages(organisationId, { dateStart, dateEnd }, column) {
      const rows = await db.query<SumRow & { language: string }>(
        `select ${column} as language, ${SUMS} from organisation_day where organisation_id = $1 and day between $2 and $3
         group by 1 having sum(loads) > 0 order by sum(loads) desc, 1 limit ${MAX_LANGUAGES}`,
        [organisationId, dateStart, dateEnd],
      )
      return rows.map((row) => ({ language: row.language, counts: toCounts(row) }))
    },
    async listVideoLanguages(videoId, { dateStart, dateEnd }) {
      const rows = await withoutParallelWorkers<SumRow & { language: string }>(
        `select language, ${SUMS} from video_day where video_id = $1 and day between $2 and $3
         group by 1 having sum(loads) > 0 order by sum(loads) desc, 1 limit ${MAX_LANGUAGES}`,
        [videoId, dateStart, dateEnd],
      )
      return rows.map((row) => ({ language: row.language, counts: toCounts(row) }))
    },
    async listDimension(owner, { dateStart, dateEnd }, dimension) {
      const [table, key, id] =
        'videoId' in owner
          ? ['video_dimension', 'video_id', owner.videoId]
          : ['organisation_dimension', 'organisation_id', owner.organisationId]
      const rows = await withoutParallelWorkers<SumRow & { value: string }>(
        `select value, ${SUMS} from ${table} where ${key} = $1 and dimension = $2 and day between $3 and $4
         group by value having sum(loads) > 0 order by sum(loads) desc, value limit ${MAX_VALUES}`,
        [id, dimension, dateStart, dateEnd],
      )
      return rows.map((row) => ({ value: row.value, counts: toCounts(row) }))
    },
    async getOrganisationTotal(organisationId, { dateStart, dateEnd }) {
      const rows = await db.query<SumRow>(`select ${SUMS} from organisation_day where organisation_id = $1 and day between $2 and $3`, [
        organisationId,
        dateStart,
        dateEnd,
      ])
      return toCounts(rows[0])
    },
    async getVideosTotal(videoIds, { dateStart, dateEnd }) {
      const rows = await withoutParallelWorkers<SumRow>(
        `select ${SUMS} from video_day where video_id = any ($1::bigint[]) and day between $2 and $3`,
        [videoIds, dateStart, dateEnd],
      )
      return toCounts(rows[0])
    },
    listOrganisationDays: (organisationId, period, page) =>
      readDays(db.query, 'organisation_day where organisation_id = $1', organisationId, period, page),
    listVideosDays: (videoIds, period, page) =>
      readViewingDays(withoutParallelWorkers, 'video_day where video_id = any ($1::bigint[])', videoIds, period, page),
    listOrganisationViewingDays: (organisationId, period, page) =>
      readViewingDays(withoutParallelWorkers, 'video_day where organisation_id = $1', organisationId, period, page),
    async listViewedVideoIds({ organisationId, period, videoIds, languages }, { after, limit, skip }) {
      const rows = await db.query<{ video_id: string }>(
        `select video_id from video v
         where organisation_id = $1 and video_id > $2 and (cardinality($3::bigint[]) = 0 or video_id = any ($3::bigint[]))
           and exists (select from video_day d where d.video_id = v.video_id and day between $4 and $5 and loads > 0
             and (cardinality($6::text[]) = 0 or d.language = any ($6::text[])))
         order by video_id limit $7 offset $8`,
        [organisationId, after, videoIds, period.dateStart, period.dateEnd, languages, limit, skip],
      )
      return rows.map((row) => row.video_id)
    },
    async listMostViewedVideoIds({ organisationId, period, videoIds, languages }, { limit, skip }) {
      const rows = await withoutParallelWorkers<{ video_id: string }>(
        `select video_id from video_day where organisation_id = $1 and day between $2 and $3
           and (cardinality($4::bigint[]) = 0 or video_id = any ($4::bigint[])) and (cardinality($5::text[]) = 0 or language = any ($5::text[]))
         group by video_id having sum(loads) > 0 order by sum(loads) desc, video_id limit $6 offset $7`,
        [organisationId, period.dateStart, period.dateEnd, videoIds, languages, limit, skip],
      )
      return rows.map((row) => row.video_id)
    },
    async countVideos(videoIds, { dateStart, dateEnd }, languages) {
      const rows = await withoutParallelWorkers<SumRow & { video_id: string }>(
        `select video_id, ${SUMS} from video_day where video_id = any ($1::bigint[]) and day between $2 and $3
           and (cardinality($4::text[]) = 0 or language = any ($4::text[])) group by video_id order by video_id`,
        [videoIds, dateStart, dateEnd, languages],
      )
      return rows.map((row) => ({ videoId: row.video_id, counts: toCounts(row) }))
    },
    async countWatchedVideos(videoIds, { dateStart, dateEnd }, languages) {
      const rows = await withoutParallelWorkers<
        SumRow & Record<'video_id' | 'share_ppm' | 'viewing_ms', string> & Record<'buckets' | 'furthest', string[]>
      >(
        `select video_id, ${SUMS}, sum(share_ppm) as share_ppm, sum(viewing_ms) as viewing_ms, ${sumPositions('buckets')}, ${sumPositions('furthest')}
         from video_day where video_id = any ($1::bigint[]) and day between $2 and $3
           and (cardinality($4::text[]) = 0 or language = any ($4::text[])) group by video_id order by video_id`,
        [videoIds, dateStart, dateEnd, languages],
      )
      return rows.map((row) => ({
        videoId: row.video_id,
        counts: toCounts(row),
        sums: {
          sharePpm: Number(row.share_ppm),
          viewingMs: Number(row.viewing_ms),
          buckets: row.buckets.map(Number),
          furthestBuckets: row.furthest.map(Number),
        },
      }))
    },
  }
}

/** Returns SQL that sums each position of a list. Unnesting the lists into rows takes five times as long. */
function sumPositions(list: 'buckets' | 'furthest'): string {
  const sums = Array.from({ length: BUCKETS }, (_, index) => `sum(${list}[${index + 1}])`)
  return `array[${sums.join(', ')}]::bigint[] as ${list}`
}

type DayArguments = [query: Query, source: string, key: unknown, period: Period, page: PagePosition]

async function readDays(...args: DayArguments): Promise<Omit<ViewingDay, 'viewingSeconds'>[]> {
  return (await readDayRows(SUMS, ...args)).map((row) => ({ day: row.date, counts: toCounts(row) }))
}

async function readViewingDays(...args: DayArguments): Promise<ViewingDay[]> {
  const rows = await readDayRows<{ viewing_ms: string }>(`${SUMS}, coalesce(sum(viewing_ms), 0) as viewing_ms`, ...args)
  return rows.map((row) => ({ day: row.date, counts: toCounts(row), viewingSeconds: Number(row.viewing_ms) / 1_000 }))
}

/** Returns the sums of each day. `sums` and `source` are inserted into SQL, so they must be constants. */
function readDayRows<Sums>(
  sums: string,
  ...[query, source, key, { dateStart, dateEnd }, { after, limit, skip }]: DayArguments
): Promise<(SumRow & { date: string } & Sums)[]> {
  return query(
    `select day::text as date, ${sums} from ${source} and day between $2 and $3 and day > $4
     group by day having sum(loads) > 0 order by day limit $5 offset $6`,
    [key, dateStart, dateEnd, after, limit, skip],
  )
}

function toCounts(row: SumRow | undefined): Counts {
  return {
    playerLoads: Number(row?.loads ?? 0),
    videoPlays: Number(row?.plays ?? 0),
    completeViews: Number(row?.completes ?? 0),
    bouncedViews: Number(row?.bounces ?? 0),
  }
}
