import type { Handlers } from '@vitascope/grpc'
import type { InsightServiceService } from '@vitascope/proto/analytics/v1/insight'
import { pageByDay } from '../report/day-page.ts'
import { readPeriod } from '../report/period.ts'
import { requireOwnVideo } from '../report/report-rpc.ts'
import { resolveReportedOrganisation } from '../report/reported-organisation.ts'
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
    async getHeatmap({ organisationId, videoId, period: requestedPeriod }, { principal }) {
      await requireOwnVideo(videos, resolveReportedOrganisation(principal, organisationId), videoId)
      const period = readPeriod(requestedPeriod)
      const heatmap = await insights.findHeatmap(videoId, period)
      if (!heatmap) return { cellSeconds: 0, durationSeconds: 0, watched: [], rewatched: [], period }
      const { durationMs, watched, rewatched } = heatmap
      return { cellSeconds: cellLength(durationMs) / 1000, durationSeconds: durationMs / 1000, watched, rewatched, period }
    },
    getRealtime: async ({ organisationId }, { principal }) =>
      insights.countLiveViews(resolveReportedOrganisation(principal, organisationId)),
    async listMinutes({ organisationId: requestedId, videoId }, { principal }) {
      const organisationId = resolveReportedOrganisation(principal, requestedId)
      if (videoId !== '') await requireOwnVideo(videos, organisationId, videoId)
      const minutes = await insights.listMinutes(organisationId, videoId)
      return {
        minutes: minutes.map(({ startMs, loads, plays, active }) => ({
          startTime: new Date(startMs),
          ...{ playerLoads: loads, videoPlays: plays, activeViews: active },
        })),
      }
    },
    async listViewerDays({ organisationId: requestedId, videoId, period: requestedPeriod, ...request }, { principal }) {
      const organisationId = resolveReportedOrganisation(principal, requestedId)
      if (videoId !== '') await requireOwnVideo(videos, organisationId, videoId)
      const period = readPeriod(requestedPeriod)
      const { rows, nextPageToken } = await pageByDay(request, (page) => insights.listViewerDays(organisationId, videoId, period, page))
      return { days: rows, nextPageToken }
    },
    async listQualityDays({ organisationId: requestedId, videoId, period: requestedPeriod, ...request }, { principal }) {
      const organisationId = resolveReportedOrganisation(principal, requestedId)
      if (videoId !== '') await requireOwnVideo(videos, organisationId, videoId)
      const period = readPeriod(requestedPeriod)
      const { rows, nextPageToken } = await pageByDay(request, (page) =>
        videoId === ''
          ? insights.listOrganisationQualityDays(organisationId, period, page)
          : insights.listQualityDays(videoId, period, page),
      )
      return {
        days: rows.map(({ day, views, started, startupMs, stalled, stalls, stalledMs, switches, failed }) => ({
          ...{ day, views, stalls, stalledMs, switches },
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
