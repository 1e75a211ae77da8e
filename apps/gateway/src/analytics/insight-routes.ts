import { z } from 'zod'
import { id } from '../fields.ts'
import { collectRows, nextLink, pageQuery } from '../pages.ts'
import { shown } from '../public-form.ts'
import { type Context, Reply, route } from '../route.ts'
import { periodView, QualityDayRecord, qualityDayView, VideoViewerDayRecord, ViewerDayRecord, viewerDayView } from './analytics-view.ts'
import { periodOf, periodQuery } from './period-query.ts'
import { reportedOrganisation } from './reported-organisation.ts'

const section = 'Added'
const access = 'user'
const ofOrganisation = z.object({ organisationId: id('organisation') })
const ofVideo = z.object({ organisationId: id('organisation'), videoId: id('video') })
const listQuery = z.object({ ...periodQuery, ...pageQuery })
const SALTED = `Different viewers are told apart by a hash of address and program, whose salt lives a day: who is the same on two days is not known,
so that days must not be added up.`

export const getHeatmap = route({
  get: ['/analytics/heatmap/:organisationId/video/:videoId'],
  section,
  access,
  summary: 'Read where a video is watched, and watched again',
  description:
    'The video in cells of `cell_seconds`, the larger of 1 and a thousandth of its duration, the first at its beginning. Of a video that was replaced by ' +
    'one of another length, the views of the length that has most of them count.',
  params: ofVideo,
  query: z.object(periodQuery),
  answer: z.object({
    video_id: shown.id('video'),
    organisation_id: shown.id('organisation'),
    video_duration: z.number().meta({ description: 'Seconds.', example: 12.48 }),
    cell_seconds: z.number().meta({ description: 'Seconds; 0 where there are no cells.', example: 1 }),
    watched: z.array(z.int()).meta({ description: 'Played views that watched any moment of each cell.', example: [3, 3, 1] }),
    rewatched: z.array(z.int()).meta({ description: 'Those that watched it once more.', example: [0, 1, 0] }),
    date_start: shown.text('`YYYY-MM-DD`, UTC.', '2030-01-01'),
    date_end: shown.text('`YYYY-MM-DD`, UTC.', '2030-12-31'),
  }),
  async handle({ params: { organisationId: named, videoId }, query }, context) {
    const period = periodOf(query)
    const organisationId = await reportedOrganisation(named, context)
    const found = await context.services.insights.getHeatmap({ organisationId, videoId, period }, context.call)
    return {
      video_id: videoId,
      organisation_id: organisationId,
      video_duration: found.durationSeconds,
      cell_seconds: found.cellSeconds,
      watched: found.watched,
      rewatched: found.rewatched,
      ...periodView(period),
    }
  },
})

export const getRealtime = route({
  get: ['/analytics/realtime/:organisationId'],
  section,
  access,
  summary: 'Count the views that go on now',
  description: 'Views that told of themselves within the last 60 s, and the 100 videos with most of them.',
  params: ofOrganisation,
  answer: z.object({
    organisation_id: shown.id('organisation'),
    views: shown.int('Of all videos.', 12),
    videos: z.array(z.object({ video_id: shown.id('video'), views: shown.int('Of this video.', 7) })),
  }),
  async handle({ params }, context) {
    const organisationId = await reportedOrganisation(params.organisationId, context)
    const { views, videos } = await context.services.insights.getRealtime({ organisationId }, context.call)
    return { organisation_id: organisationId, views, videos: videos.map((video) => ({ video_id: video.videoId, views: video.views })) }
  },
})

export const listViewerDays = route({
  get: ['/analytics/viewers/:organisationId/per-day'],
  section,
  access,
  summary: 'Count the different viewers of an organisation by day',
  description: SALTED,
  params: ofOrganisation,
  query: listQuery,
  answer: z.array(ViewerDayRecord),
  async handle({ params, query }, context) {
    const organisationId = await reportedOrganisation(params.organisationId, context)
    const { rows, link } = await viewerDays({ organisationId, videoId: '' }, query, context, `/analytics/viewers/${organisationId}/per-day`)
    return new Reply(
      rows.map((row) => viewerDayView(row, { organisation_id: organisationId })),
      { headers: link },
    )
  },
})

export const listVideoViewerDays = route({
  get: ['/analytics/viewers/:organisationId/video/:videoId/per-day'],
  section,
  access,
  summary: 'Count the different viewers of a video by day',
  description: SALTED,
  params: ofVideo,
  query: listQuery,
  answer: z.array(VideoViewerDayRecord),
  async handle({ params: { organisationId: named, videoId }, query }, context) {
    const organisationId = await reportedOrganisation(named, context)
    const path = `/analytics/viewers/${organisationId}/video/${videoId}/per-day`
    const { rows, link } = await viewerDays({ organisationId, videoId }, query, context, path)
    return new Reply(
      rows.map((row) => viewerDayView(row, { video_id: videoId, organisation_id: organisationId })),
      { headers: link },
    )
  },
})

export const listQualityDays = route({
  get: ['/analytics/qoe/:organisationId/video/:videoId/per-day'],
  section,
  access,
  summary: 'Read how well a video played by day',
  description: 'A row for each day with views that measured anything, oldest first.',
  params: ofVideo,
  query: listQuery,
  answer: z.array(QualityDayRecord),
  async handle({ params: { organisationId: named, videoId }, query }, context) {
    const period = periodOf(query)
    const organisationId = await reportedOrganisation(named, context)
    const { rows, more } = await collectRows({ ...query, part: 1_000 }, async (page) => {
      const request = { organisationId, videoId, period, ...page }
      const { days, nextPageToken } = await context.services.insights.listQualityDays(request, context.call)
      return { rows: days, nextPageToken }
    })
    const path = `/analytics/qoe/${organisationId}/video/${videoId}/per-day`
    const link = nextLink(context.publicUrl, path, { ...query, more, query: { date_start: query.date_start, date_end: query.date_end } })
    return new Reply(
      rows.map((row) => qualityDayView(row, { video_id: videoId, organisation_id: organisationId })),
      { headers: link },
    )
  },
})

export const insightRoutes = [getHeatmap, getRealtime, listViewerDays, listVideoViewerDays, listQualityDays]

/** Of one video, or of all where none is named. */
async function viewerDays(
  of: { organisationId: string; videoId: string },
  query: z.output<typeof listQuery>,
  { services, call, publicUrl }: Context,
  path: string,
) {
  const period = periodOf(query)
  const { rows, more } = await collectRows({ ...query, part: 1_000 }, async (page) => {
    const { days, nextPageToken } = await services.insights.listViewerDays({ ...of, period, ...page }, call)
    return { rows: days, nextPageToken }
  })
  const { date_start, date_end } = query
  return { rows, link: nextLink(publicUrl, path, { ...query, more, query: { date_start, date_end } }) }
}
