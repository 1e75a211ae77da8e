import { invalid } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import type { ExportServiceService } from '@vitascope/proto/analytics/v1/export'
import { resolveReportedOrganisation } from '../report/counted-organisation.ts'
import { readPeriod } from '../report/period.ts'
import { toWatched } from '../report/report-rpc.ts'
import type { ExportRow, ExportStore } from './export-store.ts'

export function exportHandlers({ rows }: { rows: ExportStore }): Handlers<typeof ExportServiceService> {
  return {
    async *exportDays({ organisationId: requestedId, period: requestedPeriod, format }, { principal, signal }) {
      const organisationId = resolveReportedOrganisation(principal, requestedId)
      const period = readPeriod(requestedPeriod)
      const write = format === 'EXPORT_FORMAT_CSV' ? toCsvLine : format === 'EXPORT_FORMAT_NDJSON' ? toJsonLine : undefined
      if (!write) throw invalid([{ field: 'format', message: 'must be ndjson or csv' }])
      if (format === 'EXPORT_FORMAT_CSV') yield { data: Buffer.from(`${COLUMN_NAMES.join(',')}\r\n`) }
      for (let last: ExportRow | undefined; ; ) {
        signal.throwIfAborted()
        const page = await rows.read(organisationId, period, last)
        if (page.length === 0) return
        yield { data: Buffer.from(page.map((row) => write(toValues(organisationId, row))).join('')) }
        last = page.at(-1)
      }
    },
  }
}

const COLUMN_NAMES = [
  'day',
  'organisation_id',
  'video_id',
  'language',
  'player_loads',
  'video_plays',
  'complete_views',
  'bounced_views',
  'average_percentage_viewed',
  'average_viewing_time',
] as const

function toValues(organisationId: string, row: ExportRow): (string | number)[] {
  const { averagePercentageViewed, averageViewingTime } = toWatched(row, { ...row, buckets: [], furthestBuckets: [] })
  const { day, videoId, language, playerLoads, videoPlays, completeViews, bouncedViews } = row
  return [
    ...[day, organisationId, videoId, language],
    ...[playerLoads, videoPlays, completeViews, bouncedViews, averagePercentageViewed, averageViewingTime],
  ]
}

function toJsonLine(values: readonly (string | number)[]): string {
  return `${JSON.stringify(Object.fromEntries(COLUMN_NAMES.map((name, index) => [name, values[index]])))}\n`
}

function toCsvLine(values: readonly (string | number)[]): string {
  return `${values.map((value) => (typeof value === 'number' ? value : toCsvCell(value))).join(',')}\r\n`
}

/** Returns a cell that no spreadsheet evaluates as a formula. Languages are input of players. */
function toCsvCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
