import { invalid } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import type { ExportServiceService } from '@vitascope/proto/analytics/v1/export'
import { resolveReportedOrganisation } from '../report/counted-organisation.ts'
import { readPeriod } from '../report/period.ts'
import { toWatched } from '../report/report-rpc.ts'
import type { ExportRow, ExportStore } from './export-store.ts'

export function exportHandlers({ rows }: { rows: ExportStore }): Handlers<typeof ExportServiceService> {
  return {
    async *exportDays({ organisationId: named, period: days, format }, { principal, signal }) {
      const organisationId = resolveReportedOrganisation(principal, named)
      const period = readPeriod(days)
      const write = format === 'EXPORT_FORMAT_CSV' ? csvLine : format === 'EXPORT_FORMAT_NDJSON' ? jsonLine : undefined
      if (!write) throw invalid([{ field: 'format', message: 'must be ndjson or csv' }])
      if (format === 'EXPORT_FORMAT_CSV') yield { data: Buffer.from(`${NAMES.join(',')}\r\n`) }
      for (let last: ExportRow | undefined; ; ) {
        signal.throwIfAborted()
        const some = await rows.read(organisationId, period, last)
        if (some.length === 0) return
        yield { data: Buffer.from(some.map((row) => write(valuesOf(organisationId, row))).join('')) }
        last = some.at(-1)
      }
    },
  }
}

const NAMES = [
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

function valuesOf(organisationId: string, row: ExportRow): (string | number)[] {
  const { averagePercentageViewed, averageViewingTime } = toWatched(row, { ...row, buckets: [], furthest: [] })
  const { day, videoId, language, playerLoads, videoPlays, completeViews, bouncedViews } = row
  return [
    ...[day, organisationId, videoId, language],
    ...[playerLoads, videoPlays, completeViews, bouncedViews, averagePercentageViewed, averageViewingTime],
  ]
}

function jsonLine(values: readonly (string | number)[]): string {
  return `${JSON.stringify(Object.fromEntries(NAMES.map((name, nth) => [name, values[nth]])))}\n`
}

function csvLine(values: readonly (string | number)[]): string {
  return `${values.map((value) => (typeof value === 'number' ? value : csvText(value))).join(',')}\r\n`
}

/** Spreadsheets execute cells that start with these characters. Languages are input of players. */
function csvText(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
