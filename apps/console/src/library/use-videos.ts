import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import { useSession } from '../api/session.tsx'
import { LAST_DIRECT_PAGE, PAGE_SIZE, type Range, rangeFromEnd, rangeFromStart } from './library-range.ts'
import type { LibrarySearch } from './library-search.ts'

/** Interval at which a page with videos that are being encoded is read again. */
const ENCODING_INTERVAL_MS = 3_000

/** Matches of a search are listed up to this number, the newest ones. */
const MAX_FOUND = 1_000
/** Videos with a tag or in a folder are counted up to this number. */
const MAX_COUNTED = 10_000

/** A page of videos, and the number of all videos that match. */
export interface VideoPage {
  videos: Schemas['Video'][]
  total: number
  /** The platform counts no more than `total`, so more videos can match. */
  isCapped?: boolean
  /** The page is too far from both ends of the list. */
  isTooFar?: boolean
}

/** Reads one page of the library. The previous page is shown until it arrives. */
export function useVideos({ q, status, tag, folder, order = 'newest', page = 1 }: LibrarySearch) {
  const { api, organisationId } = useSession()
  return useQuery<VideoPage>({
    queryKey: ['videos', organisationId, { q, status, tag, folder, order, page }],
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.videos.some(isEncoding) ? ENCODING_INTERVAL_MS : false),
    queryFn: async ({ signal }) => {
      const filter = {
        ...(q !== undefined && { q }),
        ...(status !== undefined && { status }),
        ...(tag !== undefined && { tag }),
        ...(folder !== undefined && { folder_id: folder }),
      }
      const isCapped = (total: number) => (q === undefined ? (tag ?? folder) !== undefined && total >= MAX_COUNTED : total >= MAX_FOUND)
      const read = async ({ start, limit, isReversed }: Range): Promise<VideoPage> => {
        const isDescending = order === 'newest' || order === 'nameDescending'
        const found = await api.call('listVideos', {
          signal,
          query: {
            ...{ start, limit, ...filter },
            // Results of a search are in the order of their relevance.
            ...(q === undefined && {
              sort_by: order === 'newest' || order === 'oldest' ? 'date_created' : 'name',
              sort_order: isDescending === isReversed ? 'ascending' : 'descending',
            }),
          },
        })
        const total = found.total_num_of_records
        return { videos: isReversed ? found.videos.toReversed() : found.videos, total, isCapped: isCapped(total) }
      }
      if (page <= LAST_DIRECT_PAGE) return read(rangeFromStart(page))
      const { total_num_of_records: total } = await api.call('listVideos', { signal, query: { ...filter, limit: 1 } })
      const range = q === undefined ? rangeFromEnd(page, total) : undefined
      return range ? read(range) : { videos: [], total, isTooFar: page * PAGE_SIZE < total + PAGE_SIZE, isCapped: isCapped(total) }
    },
  })
}

export function isEncoding({ status }: Schemas['Video']): boolean {
  return status.status === 'encoding' || status.status === 'waiting for encoding'
}
