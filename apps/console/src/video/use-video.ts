import { useQuery } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import { readWithEtag } from '../api/read-with-etag.ts'
import { useSession } from '../api/session.tsx'
import { isEncoding } from '../library/use-videos.ts'

/** A record and its ETag, which a change of it sends back, so that it does not overwrite a later change of another person. */
export interface LoadedVideo {
  video: Schemas['Video']
  etag: string | undefined
}

const ENCODING_INTERVAL_MS = 2_000

/** Reads a video, and reads it again while it is being encoded. */
export function useVideo(videoId: string) {
  const { api } = useSession()
  return useQuery<LoadedVideo>({
    queryKey: ['video', videoId],
    refetchInterval: ({ state }) => (state.data && isEncoding(state.data.video) ? ENCODING_INTERVAL_MS : false),
    queryFn: async ({ signal }) => {
      const { record: video, etag } = await readWithEtag((onResponse) =>
        api.call('getVideo', { path: { video_id: videoId }, query: { player_settings: 'true' }, signal, onResponse }),
      )
      return { video, etag }
    },
  })
}
