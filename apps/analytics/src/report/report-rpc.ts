import { type FieldError, invalid, notFound, requireValid } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import type { ReportServiceService, Watched } from '@vitascope/proto/analytics/v1/report'
import { checkText, pageById } from '@vitascope/request'
import type { VideoDirectory } from '../video/video-directory.ts'
import type { Video } from '../video/video-store.ts'
import { BUCKETS } from '../view/contribution.ts'
import { MAX_PAGE_SIZE, pageByDay } from './day-page.ts'
import { DIMENSION_NAMES } from './dimension-names.ts'
import { readPeriod } from './period.ts'
import { pageByRank } from './rank-page.ts'
import type { CountedVideo, Counts, ReportStore, WatchedSums, WatchedVideo } from './report-store.ts'
import { resolveReportedOrganisation } from './reported-organisation.ts'

const MAX_VIDEOS = 1_000
const MAX_LANGUAGES = 100
/** Maximum number of videos per detailed page. Descriptions can be long, and a message has at most 4 MiB. */
const MAX_DETAILED_VIDEOS = 100

export function reportHandlers({
  reports,
  videos,
}: {
  reports: ReportStore
  videos: VideoDirectory
}): Handlers<typeof ReportServiceService> {
  return {
    async listLanguages({ organisationId: requestedId, videoId, period: requestedPeriod }, { principal }) {
      const organisationId = resolveReportedOrganisation(principal, requestedId)
      if (videoId !== '') await requireOwnVideo(videos, organisationId, videoId)
      const period = readPeriod(requestedPeriod)
      const languages =
        videoId === '' ? reports.listLanguages(organisationId, period, 'language') : reports.listVideoLanguages(videoId, period)
      return { languages: await languages, period }
    },
    async listSubtitles({ organisationId: requestedId, period: requestedPeriod }, { principal }) {
      const organisationId = resolveReportedOrganisation(principal, requestedId)
      const period = readPeriod(requestedPeriod)
      return { languages: await reports.listLanguages(organisationId, period, 'subtitle'), period }
    },
    async listDimension({ organisationId: requestedId, videoId, period: requestedPeriod, dimension: requestedDimension }, { principal }) {
      const organisationId = resolveReportedOrganisation(principal, requestedId)
      if (videoId !== '') await requireOwnVideo(videos, organisationId, videoId)
      const period = readPeriod(requestedPeriod)
      const dimension = DIMENSION_NAMES[requestedDimension]
      if (!dimension) throw invalid([{ field: 'dimension', message: 'is required' }])
      const values = await reports.listDimension(videoId === '' ? { organisationId } : { videoId }, period, dimension)
      return { values, period }
    },
    async getViews({ organisationId: requestedId, period: requestedPeriod, videoIds }, { principal }) {
      const organisationId = resolveReportedOrganisation(principal, requestedId)
      const period = readPeriod(requestedPeriod)
      if (videoIds.length === 0) return { counts: await reports.getOrganisationTotal(organisationId, period), period }
      const ids = await requireOwnVideos(videos, organisationId, videoIds)
      return { counts: await reports.getVideosTotal(ids, period), period }
    },
    async listDays({ organisationId: requestedId, period: requestedPeriod, videoIds, detailed, ...request }, { principal }) {
      const organisationId = resolveReportedOrganisation(principal, requestedId)
      const period = readPeriod(requestedPeriod)
      const ids = await requireOwnVideos(videos, organisationId, videoIds)
      const { rows, nextPageToken } = await pageByDay<{ day: string; counts: Counts; viewingSeconds?: number }>(request, (page) => {
        if (ids.length > 0) return reports.listVideosDays(ids, period, page)
        if (detailed) return reports.listOrganisationViewingDays(organisationId, period, page)
        return reports.listOrganisationDays(organisationId, period, page)
      })
      const days = rows.map(({ day, counts, viewingSeconds }) => ({ day, counts, viewingSeconds: detailed ? viewingSeconds : undefined }))
      return { days, nextPageToken }
    },
    async listVideos(request, { principal }) {
      const { organisationId: requestedId, period: requestedPeriod, videoIds, languages, detailed, byViews } = request
      const organisationId = resolveReportedOrganisation(principal, requestedId)
      const period = readPeriod(requestedPeriod)
      checkLanguages(languages)
      const filter = await requireOwnVideos(videos, organisationId, videoIds)
      const counted = { organisationId, period, videoIds: filter, languages }
      const max = detailed ? MAX_DETAILED_VIDEOS : MAX_PAGE_SIZE
      const { rows: ids, nextPageToken } = await (byViews
        ? pageByRank(request, max, (page) => reports.listMostViewedVideoIds(counted, page))
        : pageById(request, max, { read: (page) => reports.listViewedVideoIds(counted, page), getId: (videoId) => videoId }))
      const [rows, videosById, texts] = await Promise.all([
        detailed ? reports.countWatchedVideos(ids, period, languages) : reports.countVideos(ids, period, languages),
        videos.findIncludingDeleted(ids),
        detailed ? videos.findTexts(ids) : undefined,
      ])
      const countsById = new Map(rows.map((row: CountedVideo & Partial<WatchedVideo>) => [row.videoId, row]))
      const sortedRows = ids.flatMap((id) => countsById.get(id) ?? [])
      const records = sortedRows.map(({ videoId, counts, sums }) => ({
        videoId,
        counts,
        durationSeconds: (videosById.get(videoId)?.durationMs ?? 0) / 1000,
        watched: sums && toWatched(counts, sums),
        titlePublic: texts?.get(videoId)?.title ?? '',
        titlePrivate: texts?.get(videoId)?.mediaTitle ?? '',
        description: texts?.get(videoId)?.description ?? '',
        language: texts?.get(videoId)?.language ?? '',
      }))
      return { videos: records, nextPageToken, period }
    },
    async getVideo({ organisationId: requestedId, videoId, period: requestedPeriod }, { principal }) {
      const { durationMs } = await requireOwnVideo(videos, resolveReportedOrganisation(principal, requestedId), videoId)
      const period = readPeriod(requestedPeriod)
      return { counts: await reports.getVideosTotal([videoId], period), durationSeconds: durationMs / 1000, period }
    },
    async listVideoDays({ organisationId: requestedId, videoId, period: requestedPeriod, ...request }, { principal }) {
      await requireOwnVideo(videos, resolveReportedOrganisation(principal, requestedId), videoId)
      const period = readPeriod(requestedPeriod)
      const { rows, nextPageToken } = await pageByDay(request, (page) => reports.listVideosDays([videoId], period, page))
      return { days: rows, nextPageToken }
    },
    async getDurationViewed({ organisationId: requestedId, videoId, period: requestedPeriod }, { principal }) {
      const { durationMs } = await requireOwnVideo(videos, resolveReportedOrganisation(principal, requestedId), videoId)
      const period = readPeriod(requestedPeriod)
      const [{ counts, sums } = NOT_WATCHED] = await reports.countWatchedVideos([videoId], period, [])
      return { counts, watched: toWatched(counts, sums), durationSeconds: durationMs / 1000, period }
    },
  }
}

/** Returns the video. Throws VIDEO_NOT_FOUND if it is unknown or belongs to another organisation. */
export async function requireOwnVideo(videos: VideoDirectory, organisationId: string, videoId: string): Promise<Video> {
  const video = (await videos.findIncludingDeleted([videoId])).get(videoId)
  if (!video || video.organisationId !== organisationId) throw notFound('video', videoId)
  return video
}

async function requireOwnVideos(videos: VideoDirectory, organisationId: string, videoIds: readonly string[]): Promise<string[]> {
  if (videoIds.length > MAX_VIDEOS) throw invalid([{ field: 'video_ids', message: `must have at most ${MAX_VIDEOS} items` }])
  const ids = [...new Set(videoIds)]
  const videosById = ids.length === 0 ? undefined : await videos.findIncludingDeleted(ids)
  const foreign = ids.find((id) => videosById?.get(id)?.organisationId !== organisationId)
  if (foreign !== undefined) throw notFound('video', foreign)
  return ids
}

function checkLanguages(languages: readonly string[]): void {
  const problems: FieldError[] = []
  if (languages.length > MAX_LANGUAGES) problems.push({ field: 'languages', message: `must have at most ${MAX_LANGUAGES} items` })
  else if (languages.some((text) => checkText('', text, { max: 100 }).length > 0)) {
    problems.push({ field: 'languages', message: 'must be language codes' })
  }
  requireValid(problems)
}

/** Returns the averages of played views, with at most two decimals. */
export function toWatched({ videoPlays }: Counts, { sharePpm, viewingMs, buckets, furthestBuckets }: WatchedSums): Watched {
  const toAverage = (sum: number) => (videoPlays === 0 ? 0 : Math.round((100 * sum) / videoPlays) / 100)
  return {
    averagePercentageViewed: toAverage(sharePpm / 1e4),
    averageViewingTime: toAverage(viewingMs / 1e3),
    viewsPerDuration: buckets,
    maxPercentageViewed: furthestBuckets,
  }
}

const NO_VIEWS = Array<number>(BUCKETS).fill(0)
const NOT_WATCHED: Pick<WatchedVideo, 'counts' | 'sums'> = {
  counts: { playerLoads: 0, videoPlays: 0, completeViews: 0, bouncedViews: 0 },
  sums: { sharePpm: 0, viewingMs: 0, buckets: NO_VIEWS, furthestBuckets: NO_VIEWS },
}
