import type { Countries } from '@vitascope/country'
import { requireValid } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import { buildPolicy, decide, type StoredPolicy, toDomain } from '@vitascope/playback-policy'
import { requireService } from '@vitascope/principal'
import type { PublicVideo, PublicVideoServiceService } from '@vitascope/proto/catalogue/v1/public_video'
import { checkPage, checkText, isId } from '@vitascope/request'
import { maxMessageSize } from '../rules/message-size.ts'
import { filterListed, type Video } from '../video/video.ts'
import type { VideoPages } from '../video/video-pages.ts'
import type { VideoQuery } from '../video/video-query.ts'
import type { OpenVideosStore } from './open-videos-store.ts'

interface PublicVideoParts {
  lists: Pick<VideoPages, 'page'>
  openVideos: OpenVideosStore
  countries: Countries
  /** URL of the platform. Its page with the list is the referrer of the player page. */
  publicUrl: string
}

const MAX_PAGE_SIZE = 24
/** Maximum number of reads per call. Each reads at most as many videos as the page still lacks. */
const MAX_READS = 10
const MAX_QUERY_LENGTH = 200

export function publicVideoHandlers({
  lists,
  openVideos,
  countries,
  publicUrl,
}: PublicVideoParts): Handlers<typeof PublicVideoServiceService> {
  /** Returns the public views of the videos that the viewer may play. */
  const filterPlayable = async (videos: readonly Video[], address: string, signal: AbortSignal): Promise<Video[]> => {
    const now = new Date()
    const listed = filterListed(videos, now).filter((video) => !video.tokenRequired && !video.ipRestricted && video.deliveryVersion !== '')
    if (listed.length === 0) return []
    const rules = await openVideos.findRules(
      listed.map(({ videoId }) => videoId),
      signal,
    )
    const viewer = { address, country: countries.find(address), referrer: publicUrl, domain: toDomain(publicUrl), now, token: undefined }
    return listed.filter((video) => {
      const rulesOfVideo = rules.get(video.videoId)
      if (!rulesOfVideo) return false
      const policy = buildPolicy({ ...OPEN_POLICY, ...rulesOfVideo })
      const page = decide(policy, { ...viewer, kind: 'page', isOwnPage: false, height: undefined })
      // Delivery decides about the master playlist by the lowest rendition.
      return page.allowed && decide(policy, { ...viewer, kind: 'manifest', isOwnPage: true, height: findLowestHeight(video) }).allowed
    })
  }
  return {
    async listPublicVideos({ organisationId, pageSize, pageToken, query, address }, { principal, signal }) {
      requireService(principal)
      requireValid([
        ...checkPage({ pageSize, skip: 0 }),
        ...(pageSize > MAX_PAGE_SIZE ? [{ field: 'page_size', message: `must be at most ${MAX_PAGE_SIZE}` }] : []),
        ...checkText('query', query, { max: MAX_QUERY_LENGTH }),
      ])
      if (!isId(organisationId)) return { videos: [], nextPageToken: '' }
      const videoQuery: VideoQuery = {
        scope: organisationId,
        order: query === '' ? 'create_time' : 'relevance',
        descending: true,
        state: 'ok',
        query: query === '' ? undefined : query,
      }
      const size = pageSize === 0 ? MAX_PAGE_SIZE : pageSize
      const found: Video[] = []
      let token = pageToken
      for (let reads = 0; reads < MAX_READS && found.length < size && (reads === 0 || token !== ''); reads++) {
        const page = await lists.page(videoQuery, { size: size - found.length, token, skip: 0 }, maxMessageSize, signal)
        found.push(...(await filterPlayable(page.videos, address, signal)))
        token = page.nextPageToken
      }
      return { videos: found.map(toMessage), nextPageToken: token }
    },
  }
}

function toMessage({ videoId, title, renditions, poster, deliveryVersion }: Video): PublicVideo {
  const thumbnailPath = poster?.thumbnail?.path || renditions?.thumbnailPath || ''
  return { videoId, title, durationSeconds: renditions?.durationSeconds, deliveryVersion, thumbnailPath }
}

/** Parts of a policy that no listed video has. */
const OPEN_POLICY: Omit<StoredPolicy, 'videoRules' | 'organisationRules' | 'deniesByDefault'> = {
  tokenRequired: false,
  passwordRequired: false,
  allowedIps: [],
  expireTime: undefined,
}

function findLowestHeight({ renditions }: Video): number | undefined {
  const heights = renditions?.renditions.flatMap(({ height }) => (height > 0 ? [height] : [])) ?? []
  return heights.length === 0 ? undefined : Math.min(...heights)
}
