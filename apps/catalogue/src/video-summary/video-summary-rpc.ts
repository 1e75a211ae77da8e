import { invalid } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import { requireService } from '@vitascope/principal'
import type { VideoSummaryServiceService } from '@vitascope/proto/catalogue/v1/video_summary'
import { isId } from '@vitascope/request'
import type { VideoSummaryStore } from './video-summary-store.ts'

/** Maximum number of ids per request. The response has about 50 kB. */
const MAX_IDS = 1_000
/** Maximum number of ids per request with texts, because descriptions can be long. */
const MAX_IDS_WITH_TEXTS = 100

export function videoSummaryHandlers(summaries: VideoSummaryStore): Handlers<typeof VideoSummaryServiceService> {
  return {
    async listVideoSummaries({ videoIds, withTexts }, { principal, signal }) {
      requireService(principal)
      const maxIds = withTexts ? MAX_IDS_WITH_TEXTS : MAX_IDS
      if (videoIds.length > maxIds) throw invalid([{ field: 'video_ids', message: `must have at most ${maxIds} items` }])
      const rows = await summaries.find([...new Set(videoIds.filter(isId))], signal)
      return { summaries: withTexts ? rows : rows.map((summary) => ({ ...summary, texts: undefined })) }
    },
  }
}
