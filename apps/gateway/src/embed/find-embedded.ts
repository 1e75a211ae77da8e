import { type DomainError, isDomainError, notFound } from '@vitascope/errors'
import type { Video } from '@vitascope/proto/catalogue/v1/video'
import { given } from '../public-form.ts'
import type { Context } from '../route.ts'
import { findVideo } from '../video/video-routes.ts'

export interface Picture {
  width: number
  height: number
}

const usual: Picture = { width: 640, height: 360 }

/** What an id leads to for this caller, be it a video or a playlist. */
export async function findEmbedded(id: string, context: Context): Promise<{ title: string; picture: Picture }> {
  try {
    const { video } = await findVideo(id, context)
    return { title: video.title, picture: pictureOf(video) }
  } catch (error) {
    if (!isMissing(error) || error.reason !== 'VIDEO_NOT_FOUND') throw error
  }
  return { title: await playlistTitle(id, context), picture: usual }
}

/** As it was published, one length alone in the shape of its files; else as large as its source, but not narrower than usual. */
export function pictureOf({
  publishedWidth,
  publishedHeight,
  renditions,
}: Pick<Video, 'publishedWidth' | 'publishedHeight' | 'renditions'>): Picture {
  const source = renditions?.width && renditions.height ? { width: renditions.width, height: renditions.height } : usual
  const scaled = (length: number, factor: number) => Math.max(1, Math.round(length * factor))
  if (publishedWidth) return { width: publishedWidth, height: publishedHeight || scaled(publishedWidth, source.height / source.width) }
  if (publishedHeight) return { width: scaled(publishedHeight, source.width / source.height), height: publishedHeight }
  return source.width >= usual.width ? source : { width: usual.width, height: scaled(usual.width, source.height / source.width) }
}

/** Its own organisation may embed every playlist; for all others it is there as the public sees it. */
async function playlistTitle(id: string, { caller, services, call }: Context): Promise<string> {
  const request = { playlistId: id, skip: 0 }
  const ask = [
    ...(caller.kind === 'guest' ? [] : [() => services.playlists.getPlaylist(request, call)]),
    () => services.playlists.findPublicPlaylist(request, call),
  ]
  for (const find of ask) {
    try {
      return given((await find()).playlist, 'playlist').title
    } catch (error) {
      if (!isMissing(error)) throw error
    }
  }
  throw notFound('video or playlist', id)
}

function isMissing(error: unknown): error is DomainError {
  return isDomainError(error) && error.kind === 'not_found'
}
