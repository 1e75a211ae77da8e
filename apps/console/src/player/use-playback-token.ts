import { useQuery } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import { useSession } from '../api/session.tsx'

const TOKEN_SECONDS = 43_200

/**
 * Returns a token with which the user can play a private or protected video, also without its password. `isRequired` is
 * false if its files need no token. No token is created before `isWanted` is true.
 */
export function usePlaybackToken(video: Schemas['Video'], isWanted = true) {
  const { api } = useSession()
  const { video_id, visibility, security, uri, player_settings } = video
  const isRequired = security.token_required_platform || visibility === 'private' || player_settings?.password_protected === '1'
  const { data } = useQuery({
    queryKey: ['playback token', video_id],
    enabled: uri.hls !== '' && isRequired && isWanted,
    staleTime: (TOKEN_SECONDS * 1_000) / 2,
    queryFn: () => api.call('createVideoToken', { path: { video_id }, payload: { expires_in: TOKEN_SECONDS } }),
  })
  return { isRequired, token: data?.token }
}

/** Adds the token to the address of a file of a video. Without a token or an address, the address is not changed. */
export function withToken(address: string, token: string | undefined): string {
  return address === '' || token === undefined ? address : `${address}?${new URLSearchParams({ token })}`
}
