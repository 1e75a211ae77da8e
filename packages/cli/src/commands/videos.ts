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

export async function showVideo(videoId: string, { vitascope, output, signal }: Context): Promise<void> {
  const video = await vitascope.videos.get(videoId, { signal })
  if (output.isJson) {
    output.print(JSON.stringify(video))
    return
  }
  printObject(output, { ...summarise(video), visibility: video.visibility, media_id: video.media_id, hls: video.uri.hls })
}

export interface UpdateFlags {
  title?: string
  description?: string
  visibility?: 'public' | 'unlisted' | 'private'
}

export async function updateVideo(videoId: string, flags: UpdateFlags, { vitascope, output, signal }: Context): Promise<void> {
  const { title, description, visibility } = flags
  const fields = {
    ...(title !== undefined && { video_title: title }),
    ...(description !== undefined && { description }),
    ...(visibility !== undefined && { visibility }),
  }
  await vitascope.videos.update(videoId, fields, { signal })
  printObject(output, { video_id: videoId, changed: Object.keys(fields).join(', ') })
}

export async function deleteVideo(videoId: string, { vitascope, output, signal }: Context): Promise<void> {
  await vitascope.videos.delete(videoId, { signal })
  printObject(output, { video_id: videoId, deleted: true })
}

function summarise({ video_id, video_title, status, created_at }: Video) {
  const state = status.status === 'ok' || status.status === 'failed' ? status.status : `${status.status} ${status.progress} %`
  return { video_id, title: video_title, state, created: created_at }
}
