import { isDomainError } from '@vitascope/errors'
import type { Call, Client } from '@vitascope/grpc'
import type { VideoServiceService } from '@vitascope/proto/catalogue/v1/video'
import type { VideoSummaryServiceService } from '@vitascope/proto/catalogue/v1/video_summary'
import { asService } from './as-service.ts'

/** Reads what a guest with a link needs to watch a video. Throws `unavailable` while the catalogue is unavailable. */
export interface GuestVideos {
  /** Returns the title and the duration of a video, or undefined if it was deleted. */
  find(videoId: string, call: Call): Promise<{ title: string; durationSeconds: number | undefined } | undefined>
  /** Returns a token with which the video can be played, or an empty string if the video was deleted. */
  createPlaybackToken(videoId: string, seconds: number, call: Call): Promise<string>
}

export function createGuestVideos(
  summaries: Pick<Client<typeof VideoSummaryServiceService>, 'listVideoSummaries'>,
  videos: Pick<Client<typeof VideoServiceService>, 'createVideoToken'>,
): GuestVideos {
  return {
    async find(videoId, call) {
      const response = await summaries.listVideoSummaries({ videoIds: [videoId], withTexts: true }, asService(call))
      const [video] = response.summaries
      return video && { title: video.texts?.title || (video.texts?.mediaTitle ?? ''), durationSeconds: video.durationSeconds }
    },
    async createPlaybackToken(videoId, expiresInSeconds, call) {
      try {
        return (await videos.createVideoToken({ videoId, expiresInSeconds, address: '' }, asService(call))).token
      } catch (error) {
        if (isDomainError(error) && error.kind === 'not_found') return ''
        throw error
      }
    },
  }
}
