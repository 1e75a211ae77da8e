import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import { type Session, useSession } from '../api/session.tsx'

export type Entry = Schemas['CollaborationEntry']

/** Interval at which comments of other people are read. */
const REFRESH_INTERVAL_MS = 15_000
/** Maximum number of entries of a video. */
const MAX_ENTRIES = 100

/** Reads the reviews of a video, one entry per reviewer. */
export function useEntries(videoId: string) {
  const { api } = useSession()
  return useQuery<Entry[]>({
    queryKey: ['review', videoId],
    refetchInterval: REFRESH_INTERVAL_MS,
    queryFn: async ({ signal }) => {
      const pairs = await api.list('listCollaborationEntries', { path: { video_id: videoId }, signal }).toArray(MAX_ENTRIES)
      return pairs.map(([, entry]) => entry)
    },
  })
}

/** Returns a function that reads the reviews of a video again. */
export function useRefresh(videoId: string): () => Promise<void> {
  const queryClient = useQueryClient()
  return () => queryClient.invalidateQueries({ queryKey: ['review', videoId] })
}

/**
 * Returns true if the entry is the review of the user. System users of another organisation have entries without a
 * user and an address, which they have created.
 */
export function isOwn({ user }: Session, entry: Entry): boolean {
  if (isOfGuest(entry)) return false
  return entry.user_id === '' ? entry.user_id_created === user.user_id : entry.user_id === user.user_id
}

/** Returns true if the entry is the review of a person without a user. */
export function isOfGuest({ user_id, email }: Entry): boolean {
  return user_id === '' && email !== ''
}

/** Returns the id of the user's own review of a video. Creates it if there is none. */
export async function requireOwnEntry(session: Session, video: Schemas['Video'], entries: readonly Entry[]): Promise<string> {
  const own = entries.find((entry) => isOwn(session, entry))
  if (own) return own.id
  const { api, user } = session
  const isMember = user.organisation_id === video.organisation_id
  const created = await api.call('createCollaborationEntry', {
    path: { video_id: video.video_id },
    payload: isMember ? { user_id: user.user_id } : {},
  })
  return created.id
}
