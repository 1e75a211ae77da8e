import { invalid } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import type { VideoFactServiceService } from '@vitascope/proto/catalogue/v1/video_fact'
import { parseId } from '../id/id.ts'
import { requireService } from '../visibility.ts'
import type { VideoFactStore } from './video-fact-store.ts'

/** Of one question: some 50 kB of answer. */
const MOST = 1_000
/** With texts: descriptions may be long. */
const MOST_WITH_TEXTS = 100

export function videoFactHandlers(facts: VideoFactStore): Handlers<typeof VideoFactServiceService> {
  return {
    async listVideoFacts({ videoIds, withTexts }, { principal, signal }) {
      requireService(principal)
      const most = withTexts ? MOST_WITH_TEXTS : MOST
      if (videoIds.length > most) throw invalid([{ field: 'video_ids', message: `must have at most ${most} items` }])
      const found = await facts.find([...new Set(videoIds.filter((id) => parseId(id) !== undefined))], signal)
      return { facts: withTexts ? found : found.map((fact) => ({ ...fact, texts: undefined })) }
    },
  }
}
