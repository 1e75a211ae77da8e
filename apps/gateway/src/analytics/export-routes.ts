import { ExportFormat } from '@vitascope/proto/analytics/v1/export'
import { z } from 'zod'
import { id, oneOf } from '../fields.ts'
import { route, Streamed } from '../route.ts'
import { periodOf, periodQuery } from './period-query.ts'
import { reportedOrganisation } from './reported-organisation.ts'

const FORMATS = {
  ndjson: { format: ExportFormat.EXPORT_FORMAT_NDJSON, type: 'application/x-ndjson' },
  csv: { format: ExportFormat.EXPORT_FORMAT_CSV, type: 'text/csv' },
} as const

export const exportDays = route({
  get: ['/analytics/export/:organisationId'],
  section: 'Added',
  access: 'user',
  cost: 'work',
  summary: 'Export the counts of an organisation',
  description: `A row for each day, video and language with views, in that order: \`day, organisation_id, video_id, language, player_loads, video_plays,
complete_views, bounced_views, average_percentage_viewed, average_viewing_time\`. NDJSON has an object a line; CSV begins with a line of names. It comes
as it is read, of any length; a connection that is cut before the end has brought a part.`,
  params: z.object({ organisationId: id('organisation') }),
  query: z.object({ ...periodQuery, format: oneOf(['ndjson', 'csv'], { description: 'How rows are written.' }).default('ndjson') }),
  answer: z.string(),
  types: Object.values(FORMATS).map(({ type }) => type),
  async handle({ params, query }, context) {
    const period = periodOf(query)
    const { format, type } = FORMATS[query.format]
    const organisationId = await reportedOrganisation(params.organisationId, context)
    const file = `analytics-${organisationId}-${period.dateStart}-${period.dateEnd}.${query.format}`
    return new Streamed(bytesOf(context.services.exports.exportDays({ organisationId, period, format }, context.call)), {
      'Content-Type': `${type}; charset=utf-8`,
      'Content-Disposition': `attachment; filename="${file}"`,
    })
  },
})

export const exportRoutes = [exportDays]

async function* bytesOf(parts: AsyncIterable<{ data: Uint8Array }>): AsyncGenerator<Uint8Array> {
  for await (const { data } of parts) yield data
}
