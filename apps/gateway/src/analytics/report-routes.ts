import type { Call } from '@vitascope/grpc'
import { z } from 'zod'
import { flag, id, idField, list, object, text } from '../fields.ts'
import { collectRows, nextLink, pageQuery } from '../pages.ts'
import { given } from '../public-form.ts'
import { type Context, Reply, route } from '../route.ts'
import {
  countersView,
  DayRecord,
  DurationRecord,
  dayView,
  LanguageRecord,
  languageView,
  periodView,
  VideoDayRecord,
  VideoListRecord,
  VideoRecord,
  ViewsRecord,
  videoListView,
  watchedView,
} from './analytics-view.ts'
import { languagePeriodOf, languagePeriodQuery, periodOf, periodQuery } from './period-query.ts'
import { reportedOrganisation } from './reported-organisation.ts'

const section = 'Analytics'
const refusals = { too_many_reports: 'one report of an organisation is read at a time, and three more may wait: wait for their answers' }
const access = 'user'
const ofOrganisation = z.object({ organisationId: id('organisation') })
const ofVideo = z.object({ organisationId: id('organisation'), videoId: id('video') })

const videoIds = list(
  idField('video'),
  { max: 1_000 },
  { description: 'Of these videos alone; left out or empty for all.', example: ['42'] },
).optional()
const languages = list(
  text(35),
  { max: 100 },
  { description: 'Views in these languages alone; `""` for views without.', example: ['en'] },
).optional()
const shownFilter = { description: 'A JSON object.', example: '{"video_id": ["42"]}' }
const filter = object(z.strictObject({ video_id: videoIds }), shownFilter).optional()
const videoFilter = object(z.strictObject({ video_id: videoIds, language: languages }), shownFilter).optional()
/** With texts of their videos they are long. */
const DETAILED_PART = 200

export const listLanguages = route({
  get: ['/analytics/language/:organisationId'],
  section,
  access,
  summary: 'Count views by the language heard',
  description: 'Those with views, most loads first; the 1,000 first.',
  params: ofOrganisation,
  query: z.object(languagePeriodQuery),
  answer: z.array(LanguageRecord),
  async handle({ params, query }, context) {
    const period = languagePeriodOf(query)
    const organisationId = await reportedOrganisation(params.organisationId, context)
    const found = await context.services.reports.listLanguages({ organisationId, period }, context.call)
    return found.languages.map((one) => languageView(one, { organisation_id: organisationId }, period))
  },
})

export const listSubtitles = route({
  get: ['/analytics/language/subtitle/:organisationId'],
  section,
  access,
  summary: 'Count views by the language of the subtitles shown',
  description: 'Those with views, most loads first; the 1,000 first.',
  params: ofOrganisation,
  query: z.object(languagePeriodQuery),
  answer: z.array(LanguageRecord),
  async handle({ params, query }, context) {
    const period = languagePeriodOf(query)
    const organisationId = await reportedOrganisation(params.organisationId, context)
    const found = await context.services.reports.listSubtitles({ organisationId, period }, context.call)
    return found.languages.map((one) => languageView(one, { organisation_id: organisationId }, period))
  },
})

export const getViews = route({
  get: ['/analytics/views/:organisationId'],
  section,
  access,
  summary: 'Count the views of an organisation',
  refusals,
  params: ofOrganisation,
  query: z.object({ ...periodQuery, filter }),
  answer: ViewsRecord,
  async handle({ params, query }, context) {
    const period = periodOf(query)
    const organisationId = await reportedOrganisation(params.organisationId, context)
    const request = { organisationId, period, videoIds: query.filter?.video_id ?? [] }
    const { counts } = await inLane(request, context, (call) => context.services.reports.getViews(request, call))
    return { organisation_id: organisationId, ...countersView(counts), ...periodView(period) }
  },
})

export const listDays = route({
  get: ['/analytics/views/:organisationId/per-day'],
  section,
  access,
  summary: 'Count the views of an organisation by day',
  refusals,
  description: 'A row for each day with views, oldest first.',
  params: ofOrganisation,
  query: z.object({ ...periodQuery, ...pageQuery, filter }),
  answer: z.array(DayRecord),
  async handle({ params, query }, context) {
    const period = periodOf(query)
    const organisationId = await reportedOrganisation(params.organisationId, context)
    const request = { organisationId, period, videoIds: query.filter?.video_id ?? [] }
    const { rows, more } = await inLane(request, context, (call) =>
      collectRows({ ...query, part: 1_000 }, async (page) => {
        const { days, nextPageToken } = await context.services.reports.listDays({ ...request, ...page }, call)
        return { rows: days, nextPageToken }
      }),
    )
    const path = `/analytics/views/${organisationId}/per-day`
    const link = nextLink(context.publicUrl, path, { ...query, more, query: narrowed(query) })
    return new Reply(
      rows.map((row) => dayView(row, { organisation_id: organisationId })),
      { headers: link },
    )
  },
})

export const listVideos = route({
  get: ['/analytics/views/:organisationId/per-video'],
  section,
  access,
  summary: 'Count the views of each video of an organisation',
  refusals,
  description: 'A row for each video with views, in the order of ids; with `detailed` also how much of it was watched, and its texts.',
  params: ofOrganisation,
  query: z.object({
    ...periodQuery,
    ...pageQuery,
    filter: videoFilter,
    detailed: flag({ description: 'True: with how much was watched, and with the texts of the video.' }).default(false),
  }),
  answer: z.array(VideoListRecord),
  async handle({ params, query }, context) {
    const period = periodOf(query)
    const { detailed } = query
    const organisationId = await reportedOrganisation(params.organisationId, context)
    const { video_id: videoIds = [], language: languages = [] } = query.filter ?? {}
    const request = { organisationId, period, videoIds, languages, detailed }
    const { rows, more } = await context.services.largeReports.run(organisationId, context.call, (call) =>
      collectRows({ ...query, part: detailed ? DETAILED_PART : 1_000 }, async (page) => {
        const { videos, nextPageToken } = await context.services.reports.listVideos({ ...request, ...page }, call)
        return { rows: videos, nextPageToken }
      }),
    )
    const path = `/analytics/views/${organisationId}/per-video`
    const link = nextLink(context.publicUrl, path, { ...query, more, query: { ...narrowed(query), ...(detailed && { detailed: '1' }) } })
    return new Reply(
      rows.map((row) => videoListView(row, { organisation_id: organisationId }, { days: period, detailed })),
      { headers: link },
    )
  },
})

export const getVideo = route({
  get: ['/analytics/views/:organisationId/video/:videoId'],
  section,
  access,
  summary: 'Count the views of a video',
  params: ofVideo,
  query: z.object(periodQuery),
  answer: VideoRecord,
  async handle({ params: { organisationId: named, videoId }, query }, context) {
    const period = periodOf(query)
    const organisationId = await reportedOrganisation(named, context)
    const found = await context.services.reports.getVideo({ organisationId, videoId, period }, context.call)
    const of = { video_id: videoId, organisation_id: organisationId }
    return { ...of, video_duration: found.durationSeconds, ...countersView(found.counts), ...periodView(period) }
  },
})

export const listVideoDays = route({
  get: ['/analytics/views/:organisationId/video/:videoId/per-day'],
  section,
  access,
  summary: 'Count the views of a video by day',
  description: 'A row for each day with views, oldest first.',
  params: ofVideo,
  query: z.object({ ...periodQuery, ...pageQuery }),
  answer: z.array(VideoDayRecord),
  async handle({ params: { organisationId: named, videoId }, query }, context) {
    const period = periodOf(query)
    const organisationId = await reportedOrganisation(named, context)
    const { rows, more } = await collectRows({ ...query, part: 1_000 }, async (page) => {
      const { days, nextPageToken } = await context.services.reports.listVideoDays(
        { organisationId, videoId, period, ...page },
        context.call,
      )
      return { rows: days, nextPageToken }
    })
    const path = `/analytics/views/${organisationId}/video/${videoId}/per-day`
    const link = nextLink(context.publicUrl, path, { ...query, more, query: narrowed(query) })
    return new Reply(
      rows.map((row) => dayView(row, { video_id: videoId, organisation_id: organisationId })),
      { headers: link },
    )
  },
})

export const getDurationViewed = route({
  get: ['/analytics/duration-viewed/:organisationId/video/:videoId'],
  section,
  access,
  summary: 'Read how far and how much of a video was watched',
  params: ofVideo,
  query: z.object(periodQuery),
  answer: DurationRecord,
  async handle({ params: { organisationId: named, videoId }, query }, context) {
    const period = periodOf(query)
    const organisationId = await reportedOrganisation(named, context)
    const found = await context.services.reports.getDurationViewed({ organisationId, videoId, period }, context.call)
    const { average_viewing_time: _, ...watched } = watchedView(given(found.watched, 'watched'))
    const of = { video_id: videoId, organisation_id: organisationId }
    return { ...of, video_duration: found.durationSeconds, ...countersView(found.counts), ...watched, ...periodView(period) }
  },
})

export const reportRoutes = [listLanguages, listSubtitles, getViews, listDays, listVideos, getVideo, listVideoDays, getDurationViewed]

/** Of a whole organisation there is one small row for each day; of chosen videos, one for each of their days. */
function inLane<T>(
  { organisationId, videoIds }: { organisationId: string; videoIds: readonly string[] },
  { services, call }: Pick<Context, 'services' | 'call'>,
  read: (call: Call) => Promise<T>,
): Promise<T> {
  return videoIds.length === 0 ? read(call) : services.largeReports.run(organisationId, call, read)
}

/** What the next page is to be narrowed to as well. */
function narrowed({
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
