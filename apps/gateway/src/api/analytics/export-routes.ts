import { ExportFormat } from '@vitascope/proto/analytics/v1/export'
import { Dimension } from '@vitascope/proto/analytics/v1/report'
import { z } from 'zod'
import { Streamed } from '../../server/route/reply.ts'
import { route } from '../../server/route/route.ts'
import { id, oneOf } from '../../server/schema/fields.ts'
import { DIMENSIONS, dimensionField } from './dimension-field.ts'
import { periodQuery, readPeriod } from './period-query.ts'
import { reportedOrganisation } from './reported-organisation.ts'

const FORMATS = {
  ndjson: { format: ExportFormat.EXPORT_FORMAT_NDJSON, type: 'application/x-ndjson' },
  csv: { format: ExportFormat.EXPORT_FORMAT_CSV, type: 'text/csv' },
} as const

export const exportDays = route({
  get: ['/analytics/export/:organisationId'],
  operationId: 'exportAnalytics',
  section: 'Analytics',
  access: 'user',
  cost: 'work',
  summary: 'Export the counts of an organisation',
  description: `Returns a row for each day, video and language with views, sorted in that order. The columns are \`day, organisation_id, video_id,
language, player_loads, video_plays, complete_views, bounced_views, average_percentage_viewed, average_viewing_time\`. NDJSON has
one object per line. CSV starts with a header line. With \`dimension\`, it returns a row for each day, video and value of that
dimension, with the columns \`day, organisation_id, video_id, dimension, value, player_loads, video_plays, complete_views,
bounced_views\`. The response is streamed and its length is not limited. If the connection ends
early, the export is incomplete.`,
  params: z.object({ organisationId: id('organisation') }),
  query: z.object({
    ...periodQuery,
    format: oneOf(['ndjson', 'csv'], { description: 'Format of the rows.' }).default('ndjson'),
    dimension: dimensionField('Dimension of the rows, instead of the language.').optional(),
  }),
  response: z.string(),
  contentTypes: Object.values(FORMATS).map(({ type }) => type),
  async handle({ params, query }, context) {
    const period = readPeriod(query)
    const { format, type } = FORMATS[query.format]
    const organisationId = await reportedOrganisation(params.organisationId, context)
    const dimension = query.dimension ? DIMENSIONS[query.dimension] : Dimension.DIMENSION_UNSPECIFIED
    const name = query.dimension ? `analytics-${query.dimension}` : 'analytics'
    const file = `${name}-${organisationId}-${period.dateStart}-${period.dateEnd}.${query.format}`
    return new Streamed(readChunks(context.services.exports.exportDays({ organisationId, period, format, dimension }, context.call)), {
      'Content-Type': `${type}; charset=utf-8`,
      'Content-Disposition': `attachment; filename="${file}"`,
    })
  },
})

export const exportRoutes = [exportDays]

async function* readChunks(chunks: AsyncIterable<{ data: Uint8Array }>): AsyncGenerator<Uint8Array> {
  for await (const { data } of chunks) yield data
}
