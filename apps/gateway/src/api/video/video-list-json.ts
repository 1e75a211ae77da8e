import { createMemo } from '@vitascope/concurrency'
import type { ListVideosResponse } from '@vitascope/proto/catalogue/v1/video'
import { Video } from '@vitascope/proto/catalogue/v1/video'
import type { PublicUrls } from '../../server/route/route.ts'
import { ownVideoResponse } from './video-response.ts'

/** Memory of the responses of listed videos. */
const REMEMBERED_BYTES = 32 * 1024 * 1024

/** The JSON texts of videos by the URLs of the platform and the encoded message. */
const remember = createMemo<string>({ maxBytes: REMEMBERED_BYTES, size: (key, json) => key.length + 2 * json.length })

/**
 * Returns the JSON array of the videos as their own organisation sees them. A video that has not
 * changed since an earlier call is neither decoded nor serialised.
 */
export function ownVideosJson(page: Pick<ListVideosResponse, 'videos' | 'encodedVideos'>, urls: PublicUrls): string {
  // A catalogue of the previous release returns `videos`, during an upgrade.
  const decoded = page.videos.map((video) => JSON.stringify(ownVideoResponse(video, urls)))
  const prefix = `${urls.publicUrl}\n${urls.mediaUrl}\n`
  const encoded = page.encodedVideos.map((bytes) =>
    remember(`${prefix}${bytes.toString('latin1')}`, () => JSON.stringify(ownVideoResponse(Video.decode(bytes), urls))),
  )
  return `[${[...decoded, ...encoded].join(',')}]`
}
