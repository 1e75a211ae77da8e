import { type Schemas, VitascopeError } from '@vitascope/sdk'
import type { Session } from './session.tsx'

/**
 * Deletes a video, and its media if it is the only video of it. Only system users can delete one video of several of a
 * media. Others delete the media with all videos that were published from it.
 */
export async function deleteVideo({ api, isSystem, user }: Session, { video_id, media_id }: Schemas['Video']): Promise<void> {
  if (!isSystem) {
    await api.call('deleteMedia', { payload: { media_id } })
    return
  }
  try {
    await api.call('deleteVideo', { path: { video_id } })
  } catch (error) {
    if (!(error instanceof VitascopeError && error.code === 'only_publish')) throw error
    await api.call('deleteMedia', { payload: { media_id, user_id: user.user_id } })
  }
}

/** Returns the videos that must be deleted, so that all of them are: only one of each media, unless each can be deleted alone. */
export function listDeletions({ isSystem }: Session, videos: readonly Schemas['Video'][]): readonly Schemas['Video'][] {
  return isSystem ? videos : [...new Map(videos.map((video) => [video.media_id, video])).values()]
}
