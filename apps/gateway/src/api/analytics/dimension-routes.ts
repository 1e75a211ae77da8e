import { z } from 'zod'
import { route } from '../../server/route/route.ts'
import { id } from '../../server/schema/fields.ts'
import { DimensionResponse, dimensionResponse, VideoDimensionResponse } from './analytics-response.ts'
import { DIMENSIONS, dimensionField } from './dimension-field.ts'
import { periodQuery, readPeriod } from './period-query.ts'
import { reportedOrganisation } from './reported-organisation.ts'

const section = 'Analytics'
const access = 'user'
const query = z.object({ ...periodQuery, dimension: dimensionField('Dimension whose values are counted.').default('device') })
const DESCRIPTION = `Returns the 1,000 values with most player loads, in decreasing order. Values of \`device\` are \`desktop\`, \`phone\`, \`tablet\`,
\`tv\` and \`other\`. \`browser\` and \`os\` have families, and \`other\`. \`country\` has codes of ISO 3166-1, if the operator has a
database of countries. \`referrer\` has registrable domains. On each day, the first 200 domains of the organisation are counted
separately, and further ones as \`other\`. An unknown country or referrer is \`""\`.`

export const listDimension = route({
  get: ['/analytics/views/:organisationId/per-dimension'],
  operationId: 'listViewsByDimension',
  section,
  access,
  summary: 'Count views by dimension',
  description: DESCRIPTION,
  params: z.object({ organisationId: id('organisation') }),
  query,
  response: z.array(DimensionResponse),
  async handle({ params, query: { dimension, ...days } }, context) {
    const period = readPeriod(days)
    const organisationId = await reportedOrganisation(params.organisationId, context)
    const request = { organisationId, videoId: '', period, dimension: DIMENSIONS[dimension] }
    const { values } = await context.services.reports.listDimension(request, context.call)
    return values.map((value) => dimensionResponse(value, { organisation_id: organisationId }, { dimension, period }))
  },
})

export const listVideoDimension = route({
  get: ['/analytics/views/:organisationId/video/:videoId/per-dimension'],
  operationId: 'listVideoViewsByDimension',
  section,
  access,
  summary: 'Count views of a video by dimension',
  description: DESCRIPTION,
  params: z.object({ organisationId: id('organisation'), videoId: id('video') }),
  query,
  response: z.array(VideoDimensionResponse),
  async handle({ params: { organisationId: requestedId, videoId }, query: { dimension, ...days } }, context) {
    const period = readPeriod(days)
    const organisationId = await reportedOrganisation(requestedId, context)
    const request = { organisationId, videoId, period, dimension: DIMENSIONS[dimension] }
    const { values } = await context.services.reports.listDimension(request, context.call)
    const ids = { video_id: videoId, organisation_id: organisationId }
    return values.map((value) => dimensionResponse(value, ids, { dimension, period }))
  },
})

export const dimensionRoutes = [listDimension, listVideoDimension]
