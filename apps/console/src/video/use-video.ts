import { useQuery } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
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
      let etag: string | undefined
      const onResponse = ({ headers }: Response) => {
        etag = headers.get('etag') ?? undefined
      }
      const video = await api.call('getVideo', { path: { video_id: videoId }, signal, onResponse })
      return { video, etag }
    },
  })
}
