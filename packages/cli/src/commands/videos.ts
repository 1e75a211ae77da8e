import type { Video } from '@vitascope/sdk'
import type { Context } from '../context.ts'
import { printObject, printRows } from '../output.ts'

export interface ListFlags {
  query?: string
  tag?: string
  limit: number
}

const COLUMNS = ['video_id', 'title', 'state', 'created']

export async function listVideos({ query, tag, limit }: ListFlags, { vitascope, output, signal }: Context): Promise<void> {
  const filters = { ...(query !== undefined && { q: query }), ...(tag !== undefined && { tag }) }
  const videos = await vitascope.videos.list(filters, { signal }).toArray(limit)
  printRows(output, output.isJson ? videos : videos.map(summarise), COLUMNS)
}

export async function showVideo(videoId: string, { vitascope, output, signal, url }: Context): Promise<void> {
  const video = await vitascope.videos.get(videoId, { signal })
  if (output.isJson) {
    output.print(JSON.stringify(video))
    return
  }
  printObject(output, {
    ...summarise(video),
    visibility: video.visibility,
    media_id: video.media_id,
    hls: video.uri.hls,
    player: playerUrl(url, videoId),
  })
}

export interface UpdateFlags {
  title?: string
  description?: string
  visibility?: 'public' | 'unlisted' | 'private'
  requireToken?: boolean
}

export async function updateVideo(videoId: string, flags: UpdateFlags, { vitascope, output, signal }: Context): Promise<void> {
  const { title, description, visibility, requireToken } = flags
  const fields = {
    ...(title !== undefined && { video_title: title }),
    ...(description !== undefined && { description }),
    ...(visibility !== undefined && { visibility }),
    ...(requireToken !== undefined && { security: { token_required_platform: requireToken } }),
  }
  await vitascope.videos.update(videoId, fields, { signal })
  printObject(output, { video_id: videoId, changed: Object.keys(fields).join(', ') })
}

export async function deleteVideo(videoId: string, { user }: { user?: string }, { vitascope, output, signal }: Context): Promise<void> {
  await vitascope.videos.delete(videoId, { signal, userId: user })
  printObject(output, { video_id: videoId, deleted: true })
}

export interface TokenFlags {
  expiresIn: number
  ip?: string
}

/** Prints a token for a viewer, with the addresses that contain it. */
export async function createToken(videoId: string, { expiresIn, ip }: TokenFlags, context: Context): Promise<void> {
  const { vitascope, output, signal, url } = context
  const { token, expires } = await vitascope.playback.createToken(videoId, { expires_in: expiresIn, ...(ip !== undefined && { ip }) })
  const { uri } = await vitascope.videos.get(videoId, { signal })
  const hls = uri.hls === '' ? '' : `${uri.hls}?token=${token}`
  printObject(output, { video_id: videoId, token, expires, hls, player: `${playerUrl(url, videoId)}?token=${token}` })
}

function playerUrl(url: string, videoId: string): string {
  return `${url.replace(/\/+$/, '').replace(/\/v2$/, '')}/player/${videoId}`
}

function summarise({ video_id, video_title, status, created_at }: Video) {
  const state = status.status === 'ok' || status.status === 'failed' ? status.status : `${status.status} ${status.progress} %`
  return { video_id, title: video_title, state, created: created_at }
}
