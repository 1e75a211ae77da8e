import type { Period } from '@vitascope/proto/analytics/v1/report'
import { z } from 'zod'
import { Reply } from '../../server/route/reply.ts'
import { type Context, route } from '../../server/route/route.ts'
import { id } from '../../server/schema/fields.ts'
import { collectRows, nextLink, pageQuery } from '../../server/schema/pagination.ts'
import { schema } from '../../server/schema/response-format.ts'
import {
  MinuteResponse,
  minuteResponse,
  OrganisationQualityDayResponse,
  periodResponse,
  QualityDayResponse,
  qualityDayResponse,
  VideoMinuteResponse,
  VideoViewerDayResponse,
  ViewerDayResponse,
  viewerDayResponse,
} from './analytics-response.ts'
import { periodQuery, readPeriod } from './period-query.ts'
import { reportedOrganisation } from './reported-organisation.ts'

const section = 'Analytics'
const access = 'user'
const organisationParams = z.object({ organisationId: id('organisation') })
const videoParams = z.object({ organisationId: id('organisation'), videoId: id('video') })
const listQuery = z.object({ ...periodQuery, ...pageQuery })
const SALTED = `Returns the number of distinct viewers for each day. Viewers are identified by a salted hash of IP address and user agent. The salt changes daily, so a viewer cannot be recognised on
another day. Do not add up the numbers of several days.`

export const getHeatmap = route({
  get: ['/analytics/heatmap/:organisationId/video/:videoId'],
  operationId: 'getVideoHeatmap',
  section,
  access,
  summary: 'Read how often each part was watched',
  description:
    'Divides the video into cells of `cell_seconds`, starting at 0. `cell_seconds` is the larger of 1 and a thousandth of the ' +
    'duration. If the source was replaced by one of another length, only the views of the length with most views count.',
  params: videoParams,
  query: z.object(periodQuery),
  response: z.object({
    video_id: schema.id('video'),
    organisation_id: schema.id('organisation'),
    video_duration: z.number().meta({ description: 'Duration of the video in seconds.', example: 12.48 }),
    cell_seconds: z.number().meta({ description: 'Length of a cell in seconds. 0 if there are no cells.', example: 1 }),
    watched: z.array(z.int()).meta({ description: 'Played views that watched any moment of each cell.', example: [3, 3, 1] }),
    rewatched: z.array(z.int()).meta({ description: 'Played views that watched any moment of each cell again.', example: [0, 1, 0] }),
    date_start: schema.text('`YYYY-MM-DD` in UTC.', '2030-01-01'),
    date_end: schema.text('`YYYY-MM-DD` in UTC.', '2030-12-31'),
  }),
  async handle({ params: { organisationId: requestedId, videoId }, query }, context) {
    const period = readPeriod(query)
    const organisationId = await reportedOrganisation(requestedId, context)
    const heatmap = await context.services.insights.getHeatmap({ organisationId, videoId, period }, context.call)
    return {
      video_id: videoId,
      organisation_id: organisationId,
      video_duration: heatmap.durationSeconds,
      cell_seconds: heatmap.cellSeconds,
      watched: heatmap.watched,
      rewatched: heatmap.rewatched,
      ...periodResponse(period),
    }
  },
})

export const getRealtime = route({
  get: ['/analytics/realtime/:organisationId'],
  operationId: 'getRealtimeViews',
  section,
  access,
  summary: 'Count the current views',
  description:
    'Counts the views that sent an event within the last 60 s, in all and for each of the 100 videos with most of them. ' +
    '`recent_views` are those of the last 5 min.',
  params: organisationParams,
  response: z.object({
    organisation_id: schema.id('organisation'),
    views: schema.int('Current views of all videos.', 12),
    recent_views: schema.int('Views of all videos that sent an event within the last 5 min.', 20),
    videos: z.array(z.object({ video_id: schema.id('video'), views: schema.int('Current views of this video.', 7) })),
  }),
  async handle({ params }, context) {
    const organisationId = await reportedOrganisation(params.organisationId, context)
    const { views, videos, recentViews } = await context.services.insights.getRealtime({ organisationId }, context.call)
    return {
      organisation_id: organisationId,
      views,
      recent_views: recentViews,
      videos: videos.map((video) => ({ video_id: video.videoId, views: video.views })),
    }
  },
})

const MINUTES = `Returns a row for each of the last 30 minutes, oldest first. The last row is the current minute, which is not over. An event
counts in the minute in which it arrived. It is included a few seconds later. A view of which several events arrive in a minute is one active view.
After a crash of the database, earlier minutes are 0.`

export const listMinutes = route({
  get: ['/analytics/realtime/:organisationId/per-minute'],
  operationId: 'listViewsByMinute',
  section,
  access,
  summary: 'Count views of the last 30 minutes',
  description: MINUTES,
  params: organisationParams,
  response: z.array(MinuteResponse).length(30),
  async handle({ params }, context) {
    const organisationId = await reportedOrganisation(params.organisationId, context)
    const { minutes } = await context.services.insights.listMinutes({ organisationId, videoId: '' }, context.call)
    return minutes.map((row) => minuteResponse(row, { organisation_id: organisationId }))
  },
})

export const listVideoMinutes = route({
  get: ['/analytics/realtime/:organisationId/video/:videoId/per-minute'],
  operationId: 'listVideoViewsByMinute',
  section,
  access,
  summary: 'Count recent views of a video by minute',
  description: MINUTES,
  params: videoParams,
  response: z.array(VideoMinuteResponse).length(30),
  async handle({ params: { organisationId: requestedId, videoId } }, context) {
    const organisationId = await reportedOrganisation(requestedId, context)
    const { minutes } = await context.services.insights.listMinutes({ organisationId, videoId }, context.call)
    return minutes.map((row) => minuteResponse(row, { video_id: videoId, organisation_id: organisationId }))
  },
})

export const listViewerDays = route({
  get: ['/analytics/viewers/:organisationId/per-day'],
  operationId: 'listViewersByDay',
  section,
  access,
  summary: 'Count distinct viewers by day',
  description: SALTED,
  params: organisationParams,
  query: listQuery,
  response: z.array(ViewerDayResponse),
  async handle({ params, query }, context) {
    const organisationId = await reportedOrganisation(params.organisationId, context)
    const { rows, link } = await viewerDays({ organisationId, videoId: '' }, query, context, `/analytics/viewers/${organisationId}/per-day`)
    return new Reply(
      rows.map((row) => viewerDayResponse(row, { organisation_id: organisationId })),
      { headers: link },
    )
  },
})

export const listVideoViewerDays = route({
  get: ['/analytics/viewers/:organisationId/video/:videoId/per-day'],
  operationId: 'listVideoViewersByDay',
  section,
  access,
  summary: 'Count distinct viewers of a video by day',
  description: SALTED,
  params: videoParams,
  query: listQuery,
  response: z.array(VideoViewerDayResponse),
  async handle({ params: { organisationId: requestedId, videoId }, query }, context) {
    const organisationId = await reportedOrganisation(requestedId, context)
    const path = `/analytics/viewers/${organisationId}/video/${videoId}/per-day`
    const { rows, link } = await viewerDays({ organisationId, videoId }, query, context, path)
    return new Reply(
      rows.map((row) => viewerDayResponse(row, { video_id: videoId, organisation_id: organisationId })),
      { headers: link },
    )
  },
})

export const listQualityDays = route({
  get: ['/analytics/qoe/:organisationId/video/:videoId/per-day'],
  operationId: 'listVideoQualityByDay',
  section,
  access,
  summary: 'Read playback quality of a video by day',
  description: 'Returns a row for each day with views that reported playback quality, oldest first.',
  params: videoParams,
  query: listQuery,
  response: z.array(QualityDayResponse),
  async handle({ params: { organisationId: requestedId, videoId }, query }, context) {
    const period = readPeriod(query)
    const organisationId = await reportedOrganisation(requestedId, context)
    const path = `/analytics/qoe/${organisationId}/video/${videoId}/per-day`
    const { rows, link } = await qualityDays({ organisationId, videoId, period }, query, context, path)
    return new Reply(
      rows.map((row) => qualityDayResponse(row, { video_id: videoId, organisation_id: organisationId })),
      { headers: link },
    )
  },
})

export const listOrganisationQualityDays = route({
  get: ['/analytics/qoe/:organisationId/per-day'],
  operationId: 'listQualityByDay',
  section,
  access,
  summary: 'Read playback quality by day',
  description: `Returns a row for each day with views that reported playback quality, oldest first. Reads a row for each video and day, so it
runs like the other detailed reports: one at a time for an organisation.`,
  errorCodes: { too_many_reports: 'The organisation has one active report and three waiting reports. Wait for their responses.' },
  params: organisationParams,
  query: listQuery,
  response: z.array(OrganisationQualityDayResponse),
  async handle({ params, query }, context) {
    const period = readPeriod(query)
    const organisationId = await reportedOrganisation(params.organisationId, context)
    const path = `/analytics/qoe/${organisationId}/per-day`
    const { rows, link } = await context.services.reportQueue.run(organisationId, context.call, (call) =>
      qualityDays({ organisationId, videoId: '', period }, query, { ...context, call }, path),
    )
    return new Reply(
      rows.map((row) => qualityDayResponse(row, { organisation_id: organisationId })),
      { headers: link },
    )
  },
})

export const insightRoutes = [
  ...[getHeatmap, getRealtime, listMinutes, listVideoMinutes],
  ...[listViewerDays, listVideoViewerDays, listQualityDays, listOrganisationQualityDays],
]

/** Returns a page of the playback quality of one video, or of all videos if none is named. */
async function qualityDays(
  request: { organisationId: string; videoId: string; period: Period },
  query: z.output<typeof listQuery>,
  { services, call, publicUrl }: Pick<Context, 'services' | 'call' | 'publicUrl'>,
  path: string,
) {
  const { rows, nextCursor } = await collectRows({ ...query, maxPageSize: 1_000 }, async (page) => {
    const { days, nextPageToken } = await services.insights.listQualityDays({ ...request, ...page }, call)
    return { rows: days, nextPageToken }
  })
  const { date_start, date_end } = query
  return { rows, link: nextLink(publicUrl, path, { ...query, nextCursor, query: { date_start, date_end } }) }
}

/** Returns viewers per day of one video, or of all videos if none is named. */
async function viewerDays(
  ids: { organisationId: string; videoId: string },
  query: z.output<typeof listQuery>,
  { services, call, publicUrl }: Context,
  path: string,
) {
  const period = readPeriod(query)
  const { rows, nextCursor } = await collectRows({ ...query, maxPageSize: 1_000 }, async (page) => {
    const { days, nextPageToken } = await services.insights.listViewerDays({ ...ids, period, ...page }, call)
    return { rows: days, nextPageToken }
  })
  const { date_start, date_end } = query
  return { rows, link: nextLink(publicUrl, path, { ...query, nextCursor, query: { date_start, date_end } }) }
}
