import { notFound } from '@vitascope/errors'
import type { Call, Client } from '@vitascope/grpc'
import { isId } from '@vitascope/postgres'
import type { Scope } from '@vitascope/principal'
import type { VideoFact, VideoFactServiceService } from '@vitascope/proto/catalogue/v1/video_fact'
import { asService } from './as-service.ts'

export type { VideoFact }

/** Reads video summaries from the catalogue. Throws `unavailable` while the catalogue is unavailable. */
export interface VideoFacts {
  /** Returns the existing videos by id, with one call. */
  find(videoIds: readonly string[], call: Call): Promise<Map<string, VideoFact>>
  /** Returns a video. Throws VIDEO_NOT_FOUND if it does not exist or is outside the scope. */
  need(scope: Scope, videoId: string, call: Call): Promise<VideoFact>
}

export function askCatalogue(client: Pick<Client<typeof VideoFactServiceService>, 'listVideoFacts'>): VideoFacts {
  const find = async (videoIds: readonly string[], call: Call) => {
    const wanted = [...new Set(videoIds)]
    if (wanted.length === 0) return new Map()
    const { facts } = await client.listVideoFacts({ videoIds: wanted, withTexts: false }, asService(call))
    return new Map(facts.map((fact) => [fact.videoId, fact]))
  }
  return {
    find,
    async need(scope, videoId, call) {
      const video = isId(videoId) ? (await find([videoId], call)).get(videoId) : undefined
      if (!video || (scope !== null && video.organisationId !== scope)) throw notFound('video', videoId)
      return video
    },
  }
}
