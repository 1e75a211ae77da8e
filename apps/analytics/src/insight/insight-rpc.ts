import type { Handlers } from '@vitascope/grpc'
import type { InsightServiceService } from '@vitascope/proto/analytics/v1/insight'
import { resolveReportedOrganisation } from '../report/counted-organisation.ts'
import { pageByDay } from '../report/day-page.ts'
import { readPeriod } from '../report/period.ts'
import { requireOwnVideo } from '../report/report-rpc.ts'
import type { VideoDirectory } from '../video/video-directory.ts'
import { cellLength } from '../view/cells.ts'
import type { InsightStore } from './insight-store.ts'

export function insightHandlers({
  insights,
  videos,
}: {
  insights: InsightStore
  videos: VideoDirectory
}): Handlers<typeof InsightServiceService> {
  return {
    async getHeatmap({ organisationId, videoId, period: days }, { principal }) {
      await requireOwnVideo(videos, resolveReportedOrganisation(principal, organisationId), videoId)
      const period = readPeriod(days)
      const heat = await insights.heat(videoId, period)
      if (!heat) return { cellSeconds: 0, durationSeconds: 0, watched: [], rewatched: [], period }
      const { durationMs, watched, rewatched } = heat
      return { cellSeconds: cellLength(durationMs) / 1000, durationSeconds: durationMs / 1000, watched, rewatched, period }
    },
    getRealtime: async ({ organisationId }, { principal }) => insights.live(resolveReportedOrganisation(principal, organisationId)),
    async listViewerDays({ organisationId: named, videoId, period: days, ...request }, { principal }) {
      const organisationId = resolveReportedOrganisation(principal, named)
      if (videoId !== '') await requireOwnVideo(videos, organisationId, videoId)
      const period = readPeriod(days)
      const { rows, nextPageToken } = await pageByDay(request, (place) => insights.viewers(organisationId, videoId, period, place))
      return { days: rows, nextPageToken }
    },
    async listQualityDays({ organisationId, videoId, period: days, ...request }, { principal }) {
      await requireOwnVideo(videos, resolveReportedOrganisation(principal, organisationId), videoId)
      const period = readPeriod(days)
      const { rows, nextPageToken } = await pageByDay(request, (place) => insights.quality(videoId, period, place))
      return {
        days: rows.map(({ day, views, started, startupMs, stalled, stalls, stalledMs, failed }) => ({
          ...{ day, views, stalls, stalledMs },
          startedViews: started,
          averageStartupMs: started === 0 ? 0 : Math.round((100 * startupMs) / started) / 100,
          stalledViews: stalled,
          errorViews: failed,
        })),
        nextPageToken,
      }
    },
  }
}
