import { notFound } from '@vitascope/errors'
import type { Call, Client } from '@vitascope/grpc'
import { isId } from '@vitascope/postgres'
import type { VideoFact, VideoFactServiceService } from '@vitascope/proto/catalogue/v1/video_fact'
import type { Scope } from '../visibility.ts'
import { byUs } from './by-us.ts'

export type { VideoFact }

/** What the catalogue knows of videos. Refuses as unavailable while the catalogue is away. */
export interface VideoFacts {
  /** By their ids, those of the given videos that there are; asked for in one call. */
  find(videoIds: readonly string[], call: Call): Promise<Map<string, VideoFact>>
  /** Refuses with VIDEO_NOT_FOUND, also for a video outside of the scope. */
  need(scope: Scope, videoId: string, call: Call): Promise<VideoFact>
}

export function askCatalogue(client: Pick<Client<typeof VideoFactServiceService>, 'listVideoFacts'>): VideoFacts {
  const find = async (videoIds: readonly string[], call: Call) => {
    const wanted = [...new Set(videoIds)]
    if (wanted.length === 0) return new Map()
    const { facts } = await client.listVideoFacts({ videoIds: wanted, withTexts: false }, byUs(call))
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
