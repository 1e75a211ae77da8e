import { type DomainError, isDomainError, notFound } from '@vitascope/errors'
import type { Video } from '@vitascope/proto/catalogue/v1/video'
import type { Context } from '../../server/route/route.ts'
import { required } from '../../server/schema/response-format.ts'
import { findVideo } from '../video/video-routes.ts'

export interface Picture {
  width: number
  height: number
}

const DEFAULT_PICTURE: Picture = { width: 640, height: 360 }

/** Returns the title and size of a video or playlist that the caller may see. */
export async function findEmbedded(id: string, context: Context): Promise<{ title: string; picture: Picture }> {
  try {
    const { video } = await findVideo(id, context)
    return { title: video.title, picture: resolvePicture(video) }
  } catch (error) {
    if (!isMissing(error) || error.reason !== 'VIDEO_NOT_FOUND') throw error
  }
  return { title: await playlistTitle(id, context), picture: DEFAULT_PICTURE }
}

/**
 * Returns the size of a video. It is the published size, where a missing side follows from the
 * aspect ratio. Otherwise it is the source's size, at least of the default width.
 */
export function resolvePicture({
  publishedWidth,
  publishedHeight,
  renditions,
}: Partial<Pick<Video, 'publishedWidth' | 'publishedHeight' | 'renditions'>>): Picture {
  const source = renditions?.width && renditions.height ? { width: renditions.width, height: renditions.height } : DEFAULT_PICTURE
  const scaled = (length: number, factor: number) => Math.max(1, Math.round(length * factor))
  if (publishedWidth) return { width: publishedWidth, height: publishedHeight || scaled(publishedWidth, source.height / source.width) }
  if (publishedHeight) return { width: scaled(publishedHeight, source.width / source.height), height: publishedHeight }
  return source.width >= DEFAULT_PICTURE.width
    ? source
    : { width: DEFAULT_PICTURE.width, height: scaled(DEFAULT_PICTURE.width, source.height / source.width) }
}

/**
 * Returns the title of a playlist. Its own organisation may embed any playlist, all others only
 * public ones.
 */
async function playlistTitle(id: string, { caller, services, call }: Context): Promise<string> {
  const request = { playlistId: id, skip: 0 }
  const attempts = [
    ...(caller.kind === 'guest' ? [] : [() => services.playlists.getPlaylist(request, call)]),
    () => services.playlists.findPublicPlaylist(request, call),
  ]
  for (const find of attempts) {
    try {
      return required((await find()).playlist, 'playlist').title
    } catch (error) {
      if (!isMissing(error)) throw error
    }
  }
  throw notFound('video or playlist', id)
}

function isMissing(error: unknown): error is DomainError {
  return isDomainError(error) && error.kind === 'not_found'
}
