import type { Call } from '@vitascope/grpc'
import { z } from 'zod'
import { Reply } from '../../server/route/reply.ts'
import { type Context, route } from '../../server/route/route.ts'
import { flag, id, idField, list, object, oneOf, text } from '../../server/schema/fields.ts'
import { collectRows, nextLink, pageQuery } from '../../server/schema/pagination.ts'
import { required } from '../../server/schema/response-format.ts'
import {
  countersResponse,
  DayResponse,
  DurationResponse,
  dayResponse,
  LanguageResponse,
  languageResponse,
  periodResponse,
  VideoDayResponse,
  VideoLanguageResponse,
  VideoListResponse,
  VideoResponse,
  ViewsResponse,
  videoDayResponse,
  videoListResponse,
  watchedResponse,
} from './analytics-response.ts'
import { languagePeriodQuery, periodQuery, readLanguagePeriod, readPeriod } from './period-query.ts'
import { reportedOrganisation } from './reported-organisation.ts'

const section = 'Analytics'
const errorCodes = { too_many_reports: 'The organisation has one active report and three waiting reports. Wait for their responses.' }
const access = 'user'
const organisationParams = z.object({ organisationId: id('organisation') })
const videoParams = z.object({ organisationId: id('organisation'), videoId: id('video') })

const videoIds = list(
  idField('video'),
  { max: 1_000 },
  { description: 'Counts only views of these videos. If the list is omitted or empty, all videos count.', example: ['42'] },
).optional()
const languages = list(
  text(35),
  { max: 100 },
  { description: 'Counts only views in these languages. `""` selects views without a language.', example: ['en'] },
).optional()
const filterDocs = { description: 'A JSON object. Only views of these videos count.', example: { video_id: ['42'] } }
const filter = object(z.strictObject({ video_id: videoIds }), filterDocs).optional()
const videoFilterDocs = { ...filterDocs, description: 'A JSON object. Only views of these videos in these languages count.' }
const videoFilter = object(z.strictObject({ video_id: videoIds, language: languages }), videoFilterDocs).optional()
const publicNames = { video_ids: 'filter.video_id', languages: 'filter.language' }
/** Rows per call, of which analytics returns no more. Rows with the texts of their videos are large. */
const MAX_DETAILED_PAGE_SIZE = 100

export const listLanguages = route({
  get: ['/analytics/language/:organisationId'],
  operationId: 'listViewsByAudioLanguage',
  section,
  access,
  summary: 'Count views by audio language',
  description: 'Returns the 1,000 languages with most player loads, in decreasing order.',
  params: organisationParams,
  query: z.object(languagePeriodQuery),
  response: z.array(LanguageResponse),
  async handle({ params, query }, context) {
    const period = readLanguagePeriod(query)
    const organisationId = await reportedOrganisation(params.organisationId, context)
    const report = await context.services.reports.listLanguages({ organisationId, videoId: '', period }, context.call)
    return report.languages.map((language) => languageResponse(language, { organisation_id: organisationId }, period))
  },
})

export const listVideoLanguages = route({
  get: ['/analytics/language/:organisationId/video/:videoId'],
  operationId: 'listVideoViewsByAudioLanguage',
  section,
  access,
  summary: 'Count views of a video by language',
  description: 'Returns the 1,000 audio languages with most player loads, in decreasing order.',
  params: videoParams,
  query: z.object(periodQuery),
  response: z.array(VideoLanguageResponse),
  async handle({ params: { organisationId: requestedId, videoId }, query }, context) {
    const period = readPeriod(query)
    const organisationId = await reportedOrganisation(requestedId, context)
    const report = await context.services.reports.listLanguages({ organisationId, videoId, period }, context.call)
    return report.languages.map((language) => languageResponse(language, { video_id: videoId, organisation_id: organisationId }, period))
  },
})

export const listSubtitles = route({
  get: ['/analytics/language/subtitle/:organisationId'],
  operationId: 'listViewsBySubtitleLanguage',
  section,
  access,
  summary: 'Count views by subtitle language',
  description: 'Returns the 1,000 languages with most player loads, in decreasing order.',
  params: organisationParams,
  query: z.object(languagePeriodQuery),
  response: z.array(LanguageResponse),
  async handle({ params, query }, context) {
    const period = readLanguagePeriod(query)
    const organisationId = await reportedOrganisation(params.organisationId, context)
    const report = await context.services.reports.listSubtitles({ organisationId, period }, context.call)
    return report.languages.map((language) => languageResponse(language, { organisation_id: organisationId }, period))
  },
})

export const getViews = route({
  get: ['/analytics/views/:organisationId'],
  operationId: 'getViews',
  section,
  access,
  summary: 'Count the views of an organisation',
  description: 'Returns the sums of all views of the organisation in the period.',
  errorCodes,
  params: organisationParams,
  query: z.object({ ...periodQuery, filter }),
  publicNames,
  response: ViewsResponse,
  async handle({ params, query }, context) {
    const period = readPeriod(query)
    const organisationId = await reportedOrganisation(params.organisationId, context)
    const request = { organisationId, period, videoIds: query.filter?.video_id ?? [] }
    const { counts } = await runReport(request, context, (call) => context.services.reports.getViews(request, call))
    return { organisation_id: organisationId, ...countersResponse(counts), ...periodResponse(period) }
  },
})

export const listDays = route({
  get: ['/analytics/views/:organisationId/per-day'],
  operationId: 'listViewsByDay',
  section,
  access,
  summary: 'Count the views of an organisation by day',
  errorCodes,
  description: 'Returns a row for each day with views, oldest first. `detailed` adds the viewing time.',
  params: organisationParams,
  query: z.object({
    ...periodQuery,
    ...pageQuery,
    filter,
    detailed: flag({ description: '`true` adds the viewing time.' }).default(false),
  }),
  publicNames,
  response: z.array(DayResponse),
  async handle({ params, query }, context) {
    const period = readPeriod(query)
    const organisationId = await reportedOrganisation(params.organisationId, context)
    const { detailed } = query
    const request = { organisationId, period, videoIds: query.filter?.video_id ?? [], detailed }
    const { rows, nextCursor } = await runReport(request, context, (call) =>
      collectRows({ ...query, maxPageSize: 1_000 }, async (page) => {
        const { days, nextPageToken } = await context.services.reports.listDays({ ...request, ...page }, call)
        return { rows: days, nextPageToken }
      }),
    )
    const path = `/analytics/views/${organisationId}/per-day`
    const link = nextLink(context.publicUrl, path, {
      ...query,
      nextCursor,
      query: { ...repeatedFilters(query), ...(detailed && { detailed: '1' }) },
    })
    return new Reply(
      rows.map((row) => dayResponse(row, { organisation_id: organisationId })),
      { headers: link },
    )
  },
})

export const listVideos = route({
  get: ['/analytics/views/:organisationId/per-video'],
  operationId: 'listViewsByVideo',
  section,
  access,
  summary: 'Count the views of each video',
  errorCodes,
  description: 'Returns a row for each video with views. `detailed` adds viewing time and the texts of the video.',
  params: organisationParams,
  query: z.object({
    ...periodQuery,
    ...pageQuery,
    filter: videoFilter,
    detailed: flag({ description: '`true` adds how much was watched and the texts of the video.' }).default(false),
    order: oneOf(['id', 'views'], { description: '`id`: by ascending id. `views`: the most viewed videos first.' }).default('id'),
  }),
  response: z.array(VideoListResponse),
  publicNames,
  async handle({ params, query }, context) {
    const period = readPeriod(query)
    const { detailed, order } = query
    const organisationId = await reportedOrganisation(params.organisationId, context)
    const { video_id: videoIds = [], language: languages = [] } = query.filter ?? {}
    const request = { organisationId, period, videoIds, languages, detailed, byViews: order === 'views' }
    const { rows, nextCursor } = await context.services.reportQueue.run(organisationId, context.call, (call) =>
      collectRows({ ...query, maxPageSize: detailed ? MAX_DETAILED_PAGE_SIZE : 1_000 }, async (page) => {
        const { videos, nextPageToken } = await context.services.reports.listVideos({ ...request, ...page }, call)
        return { rows: videos, nextPageToken }
      }),
    )
    const path = `/analytics/views/${organisationId}/per-video`
    const link = nextLink(context.publicUrl, path, {
      ...query,
      nextCursor,
      query: { ...repeatedFilters(query), ...(detailed && { detailed: '1' }), ...(order !== 'id' && { order }) },
    })
    return new Reply(
      rows.map((row) => videoListResponse(row, { organisation_id: organisationId }, { days: period, detailed })),
      { headers: link },
    )
  },
})

export const getVideo = route({
  get: ['/analytics/views/:organisationId/video/:videoId'],
  operationId: 'getVideoViews',
  section,
  access,
  summary: 'Count the views of a video',
  description: 'Returns the sums of all views of the video in the period.',
  params: videoParams,
  query: z.object(periodQuery),
  response: VideoResponse,
  async handle({ params: { organisationId: requestedId, videoId }, query }, context) {
    const period = readPeriod(query)
    const organisationId = await reportedOrganisation(requestedId, context)
    const report = await context.services.reports.getVideo({ organisationId, videoId, period }, context.call)
    const ids = { video_id: videoId, organisation_id: organisationId }
    return { ...ids, video_duration: report.durationSeconds, ...countersResponse(report.counts), ...periodResponse(period) }
  },
})

export const listVideoDays = route({
  get: ['/analytics/views/:organisationId/video/:videoId/per-day'],
  operationId: 'listVideoViewsByDay',
  section,
  access,
  summary: 'Count the views of a video by day',
  description: 'Returns a row for each day with views, oldest first.',
  params: videoParams,
  query: z.object({ ...periodQuery, ...pageQuery }),
  response: z.array(VideoDayResponse),
  async handle({ params: { organisationId: requestedId, videoId }, query }, context) {
    const period = readPeriod(query)
    const organisationId = await reportedOrganisation(requestedId, context)
    const { rows, nextCursor } = await collectRows({ ...query, maxPageSize: 1_000 }, async (page) => {
      const { days, nextPageToken } = await context.services.reports.listVideoDays(
        { organisationId, videoId, period, ...page },
        context.call,
      )
      return { rows: days, nextPageToken }
    })
    const path = `/analytics/views/${organisationId}/video/${videoId}/per-day`
    const link = nextLink(context.publicUrl, path, { ...query, nextCursor, query: repeatedFilters(query) })
    return new Reply(
      rows.map((row) => videoDayResponse(row, { video_id: videoId, organisation_id: organisationId })),
      { headers: link },
    )
  },
})

export const getDurationViewed = route({
  get: ['/analytics/duration-viewed/:organisationId/video/:videoId'],
  operationId: 'getVideoDurationViewed',
  section,
  access,
  summary: 'Read how much of a video was watched',
  description: 'Returns the mean share of the video that was watched. Also counts the watched and the furthest positions in steps of 5 %.',
  params: videoParams,
  query: z.object(periodQuery),
  response: DurationResponse,
  async handle({ params: { organisationId: requestedId, videoId }, query }, context) {
    const period = readPeriod(query)
    const organisationId = await reportedOrganisation(requestedId, context)
    const report = await context.services.reports.getDurationViewed({ organisationId, videoId, period }, context.call)
    const { average_viewing_time: _, ...watched } = watchedResponse(required(report.watched, 'watched'))
    const ids = { video_id: videoId, organisation_id: organisationId }
    return { ...ids, video_duration: report.durationSeconds, ...countersResponse(report.counts), ...watched, ...periodResponse(period) }
  },
})

export const reportRoutes = [
  ...[listLanguages, listVideoLanguages, listSubtitles],
  ...[getViews, listDays, listVideos, getVideo, listVideoDays, getDurationViewed],
]

/**
 * Queues only detailed reports and those of chosen videos. They read one row per video and day, other
 * reports of a whole organisation only one small row per day.
 */
function runReport<T>(
  { organisationId, videoIds, detailed = false }: { organisationId: string; videoIds: readonly string[]; detailed?: boolean },
  { services, call }: Pick<Context, 'services' | 'call'>,
  readReport: (call: Call) => Promise<T>,
): Promise<T> {
  return videoIds.length === 0 && !detailed ? readReport(call) : services.reportQueue.run(organisationId, call, readReport)
}

/** Returns the filters that the next page repeats. */
function repeatedFilters({
  date_start,
  date_end,
  filter,
}: {
  date_start?: string | undefined
  date_end?: string | undefined
  filter?: object | undefined
}) {
  return { date_start, date_end, ...(filter && { filter: JSON.stringify(filter) }) }
}
