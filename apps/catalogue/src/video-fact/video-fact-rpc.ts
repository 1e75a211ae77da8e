import { invalid } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import type { VideoFactServiceService } from '@vitascope/proto/catalogue/v1/video_fact'
import { parseId } from '../id/id.ts'
import { requireService } from '../visibility.ts'
import type { VideoFactStore } from './video-fact-store.ts'

/** Of one question: some 50 kB of answer. */
const MOST = 1_000

export function videoFactHandlers(facts: VideoFactStore): Handlers<typeof VideoFactServiceService> {
  return {
    async listVideoFacts({ videoIds }, { principal, signal }) {
      requireService(principal)
      if (videoIds.length > MOST) throw invalid([{ field: 'video_ids', message: `must have at most ${MOST} items` }])
      return { facts: await facts.find([...new Set(videoIds.filter((id) => parseId(id) !== undefined))], signal) }
    },
  }
}
