import type { Db } from '@vitascope/postgres'
import type { Period } from '../report/period.ts'
import type { Counts } from '../report/report-store.ts'
import type { Dimension } from '../view/dimension.ts'

export interface ExportRow extends Counts {
  day: string
  videoId: string
  language: string
  sharePpm: number
  viewingMs: number
}

export interface DimensionRow extends Counts {
  day: string
  videoId: string
  value: string
}

export interface ExportStore {
  /** Returns at most 1,000 rows that follow `after`, ordered by day, video and language. */
  read(organisationId: string, period: Period, after: Pick<ExportRow, 'day' | 'videoId' | 'language'> | undefined): Promise<ExportRow[]>
  /** Returns at most 1,000 rows of a dimension that follow `after`, ordered by day, video and value. */
  readDimension(
    organisationId: string,
    period: Period,
    dimension: Dimension,
    after: Pick<DimensionRow, 'day' | 'videoId' | 'value'> | undefined,
  ): Promise<DimensionRow[]>
}

type SumColumn = 'loads' | 'plays' | 'completes' | 'bounces' | 'share_ppm' | 'viewing_ms'

const MAX_ROWS = 1_000

export function createExportStore(db: Db): ExportStore {
  return {
    async read(organisationId, { dateStart, dateEnd }, after) {
      const rows = await db.query<Record<SumColumn | 'date' | 'video_id' | 'language', string>>(
        `select day::text as date, video_id, language, loads, plays, completes, bounces, share_ppm, viewing_ms from video_day
         where organisation_id = $1 and day between $2 and $3 and (day, video_id, language) > ($4, $5, $6) and loads > 0
         order by day, video_id, language limit ${MAX_ROWS}`,
        [organisationId, dateStart, dateEnd, after?.day ?? '-infinity', after?.videoId ?? '0', after?.language ?? ''],
      )
      return rows.map((row) => ({
        day: row.date,
        videoId: row.video_id,
        language: row.language,
        playerLoads: Number(row.loads),
        videoPlays: Number(row.plays),
        completeViews: Number(row.completes),
        bouncedViews: Number(row.bounces),
        sharePpm: Number(row.share_ppm),
        viewingMs: Number(row.viewing_ms),
      }))
    },
    async readDimension(organisationId, { dateStart, dateEnd }, dimension, after) {
      const rows = await db.query<Record<'loads' | 'plays' | 'completes' | 'bounces' | 'date' | 'video_id' | 'value', string>>(
        `select day::text as date, video_id, value, loads, plays, completes, bounces from video_dimension
         where organisation_id = $1 and dimension = $2 and day between $3 and $4 and (day, video_id, value) > ($5, $6, $7) and loads > 0
         order by day, video_id, value limit ${MAX_ROWS}`,
        [organisationId, dimension, dateStart, dateEnd, after?.day ?? '-infinity', after?.videoId ?? '0', after?.value ?? ''],
      )
      return rows.map((row) => ({
        day: row.date,
        videoId: row.video_id,
        value: row.value,
        playerLoads: Number(row.loads),
        videoPlays: Number(row.plays),
        completeViews: Number(row.completes),
        bouncedViews: Number(row.bounces),
      }))
    },
  }
}
