import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import { useSession } from '../api/session.tsx'
import type { LibrarySearch } from './library-search.ts'

export const PAGE_SIZE = 20
/** Interval at which a page with videos that are being encoded is read again. */
const ENCODING_INTERVAL_MS = 3_000

/** A page of videos, and the number of all videos that match. The platform counts at most 10,000 of some filters. */
export interface VideoPage {
  videos: Schemas['Video'][]
  total: number
}

/** Reads one page of the library. The previous page is shown until it arrives. */
export function useVideos({ q, status, tag, folder, order = 'newest', page = 1 }: LibrarySearch) {
  const { api, organisationId } = useSession()
  return useQuery<VideoPage>({
    queryKey: ['videos', organisationId, { q, status, tag, folder, order, page }],
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.videos.some(isEncoding) ? ENCODING_INTERVAL_MS : false),
    queryFn: async ({ signal }) => {
      const found = await api.call('listVideos', {
        signal,
        query: {
          limit: PAGE_SIZE,
          start: (page - 1) * PAGE_SIZE + 1,
          // Results of a search are in the order of their relevance.
          ...(q === undefined && {
            sort_by: order === 'newest' || order === 'oldest' ? 'date_created' : 'name',
            sort_order: order === 'newest' || order === 'nameDescending' ? 'descending' : 'ascending',
          }),
          ...(q !== undefined && { q }),
          ...(status !== undefined && { status }),
          ...(tag !== undefined && { tag }),
          ...(folder !== undefined && { folder_id: folder }),
        },
      })
      return { videos: found.videos, total: found.total_num_of_records }
    },
  })
}

export function isEncoding({ status }: Schemas['Video']): boolean {
  return status.status === 'encoding' || status.status === 'waiting for encoding'
}
