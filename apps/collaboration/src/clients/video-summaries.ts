import { notFound } from '@vitascope/errors'
import type { Call, Client } from '@vitascope/grpc'
import type { Scope } from '@vitascope/principal'
import type { VideoSummary, VideoSummaryServiceService } from '@vitascope/proto/catalogue/v1/video_summary'
import { isId } from '@vitascope/request'
import { asService } from './as-service.ts'

export type { VideoSummary }

/** Reads video summaries from the catalogue. Throws `unavailable` while the catalogue is unavailable. */
export interface VideoSummaries {
  /** Returns the existing videos by id, with one call. */
  find(videoIds: readonly string[], call: Call): Promise<Map<string, VideoSummary>>
  /** Returns a video. Throws VIDEO_NOT_FOUND if it does not exist or is outside the scope. */
  require(scope: Scope, videoId: string, call: Call): Promise<VideoSummary>
}

export function createVideoSummaries(client: Pick<Client<typeof VideoSummaryServiceService>, 'listVideoSummaries'>): VideoSummaries {
  const find = async (videoIds: readonly string[], call: Call) => {
    const uniqueIds = [...new Set(videoIds)]
    if (uniqueIds.length === 0) return new Map()
    const { summaries } = await client.listVideoSummaries({ videoIds: uniqueIds, withTexts: false }, asService(call))
    return new Map(summaries.map((summary) => [summary.videoId, summary]))
  }
  return {
    find,
    async require(scope, videoId, call) {
      const video = isId(videoId) ? (await find([videoId], call)).get(videoId) : undefined
      if (!video || (scope !== null && video.organisationId !== scope)) throw notFound('video', videoId)
      return video
    },
  }
}
