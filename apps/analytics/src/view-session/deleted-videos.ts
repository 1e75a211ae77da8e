import type { RetainedTable } from '@vitascope/postgres'
import type { VideoDirectory } from '../video/video-directory.ts'
import type { ViewSessionStore } from './view-session-store.ts'

/** Maximum number of videos that one call checks. */
const MAX_CHECKED = 1_000

/**
 * Returns the retention rule that deletes the view sessions of deleted videos. Each call of `remove`
 * checks the next 1,000 videos with sessions, and starts again after the last one. While the catalogue
 * is unavailable, it deletes nothing.
 */
export function deletedVideoSessions(
  sessions: Pick<ViewSessionStore, 'listVideoIds' | 'removeSessions'>,
  videos: Pick<VideoDirectory, 'findExisting'>,
): RetainedTable {
  let lastCheckedId = '0'
  return {
    table: 'deleted_video_sessions',
    async remove(limit) {
      const videoIds = await sessions.listVideoIds(lastCheckedId, MAX_CHECKED)
      const existing = await videos.findExisting(videoIds)
      const deletedIds = videoIds.filter((id) => !existing.has(id))
      const removed = deletedIds.length === 0 ? 0 : await sessions.removeSessions(deletedIds, limit)
      // If the limit was reached, more rows may be left, so the next call checks the same videos again.
      if (removed < limit) lastCheckedId = videoIds.length < MAX_CHECKED ? '0' : (videoIds.at(-1) ?? '0')
      return removed
    },
  }
}
