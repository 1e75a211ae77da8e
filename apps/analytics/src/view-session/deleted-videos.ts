import type { RetainedTable } from '@vitascope/postgres'
import type { VideoDirectory } from '../video/video-directory.ts'
import type { ViewSessionStore } from './view-session-store.ts'

/** Number of videos that one round checks. */
const MAX_CHECKED = 1_000

/**
 * Returns the removal of the sessions of deleted videos. Each round checks the next 1,000 videos with
 * sessions, and starts again after the last one. While the catalogue is unavailable, nothing is removed.
 */
export function deletedVideoSessions(
  sessions: Pick<ViewSessionStore, 'listVideoIds' | 'removeSessions'>,
  videos: Pick<VideoDirectory, 'findExisting'>,
): RetainedTable {
  let checkedId = '0'
  return {
    table: 'deleted_video_sessions',
    async remove(limit) {
      const videoIds = await sessions.listVideoIds(checkedId, MAX_CHECKED)
      const existing = await videos.findExisting(videoIds)
      const deletedIds = videoIds.filter((id) => !existing.has(id))
      const removed = deletedIds.length === 0 ? 0 : await sessions.removeSessions(deletedIds, limit)
      // With more rows than the limit, the same videos are checked again.
      if (removed < limit) checkedId = videoIds.length < MAX_CHECKED ? '0' : (videoIds.at(-1) ?? '0')
      return removed
    },
  }
}
