import { invalid } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import type { ExportServiceService } from '@vitascope/proto/analytics/v1/export'
import { DIMENSION_NAMES } from '../report/dimension-names.ts'
import { readPeriod } from '../report/period.ts'
import { toWatched } from '../report/report-rpc.ts'
import type { Counts } from '../report/report-store.ts'
import { resolveReportedOrganisation } from '../report/reported-organisation.ts'
import type { Dimension } from '../view/dimension.ts'
import type { DimensionRow, ExportRow, ExportStore } from './export-store.ts'

export function exportHandlers({ rows }: { rows: ExportStore }): Handlers<typeof ExportServiceService> {
  return {
    async *exportDays(
      { organisationId: requestedId, period: requestedPeriod, format, dimension: requestedDimension },
      { principal, signal },
    ) {
      const organisationId = resolveReportedOrganisation(principal, requestedId)
      const period = readPeriod(requestedPeriod)
      const dimension = DIMENSION_NAMES[requestedDimension]
      const names = dimension ? DIMENSION_COLUMNS : COLUMN_NAMES
      const write = format === 'EXPORT_FORMAT_CSV' ? toCsvLine : format === 'EXPORT_FORMAT_NDJSON' ? toJsonLine(names) : undefined
      if (!write) throw invalid([{ field: 'format', message: 'must be ndjson or csv' }])
      const pages = dimension
        ? readPages<DimensionRow>(
            (after) => rows.readDimension(organisationId, period, dimension, after),
            (row) => toDimensionValues(organisationId, dimension, row),
          )
        : readPages<ExportRow>(
            (after) => rows.read(organisationId, period, after),
            (row) => toValues(organisationId, row),
          )
      if (format === 'EXPORT_FORMAT_CSV') yield { data: Buffer.from(`${names.join(',')}\r\n`) }
      for await (const page of pages) {
        yield { data: Buffer.from(page.map(write).join('')) }
        signal.throwIfAborted()
      }
    },
  }
}

type Values = readonly (string | number)[]

/** Yields the values of the rows, one page at a time. */
async function* readPages<Row>(
  read: (after: Row | undefined) => Promise<Row[]>,
  toRowValues: (row: Row) => Values,
): AsyncGenerator<Values[]> {
  for (let last: Row | undefined; ; ) {
    const page = await read(last)
    if (page.length === 0) return
    yield page.map(toRowValues)
    last = page.at(-1)
  }
}

const COUNT_NAMES = ['player_loads', 'video_plays', 'complete_views', 'bounced_views'] as const
const COLUMN_NAMES: readonly string[] = [
  ...['day', 'organisation_id', 'video_id', 'language'],
  ...COUNT_NAMES,
  ...['average_percentage_viewed', 'average_viewing_time'],
]
const DIMENSION_COLUMNS: readonly string[] = ['day', 'organisation_id', 'video_id', 'dimension', 'value', ...COUNT_NAMES]

function toValues(organisationId: string, row: ExportRow): Values {
  const { averagePercentageViewed, averageViewingTime } = toWatched(row, { ...row, buckets: [], furthestBuckets: [] })
  const { day, videoId, language } = row
  return [...[day, organisationId, videoId, language], ...toCounts(row), ...[averagePercentageViewed, averageViewingTime]]
}

function toDimensionValues(organisationId: string, dimension: Dimension, row: DimensionRow): Values {
  return [row.day, organisationId, row.videoId, dimension, row.value, ...toCounts(row)]
}

function toCounts({ playerLoads, videoPlays, completeViews, bouncedViews }: Counts): number[] {
  return [playerLoads, videoPlays, completeViews, bouncedViews]
}

function toJsonLine(names: readonly string[]): (values: Values) => string {
  return (values) => `${JSON.stringify(Object.fromEntries(names.map((name, index) => [name, values[index]])))}\n`
}

function toCsvLine(values: Values): string {
  return `${values.map((value) => (typeof value === 'number' ? value : toCsvCell(value))).join(',')}\r\n`
}

/** Returns a cell that no spreadsheet evaluates as a formula. Languages and referrers are input of players. */
function toCsvCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
