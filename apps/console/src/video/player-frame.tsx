import { Loader, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'

const TOKEN_SECONDS = 43_200

/** The player of a video. Private and protected videos are played with a token of the user. */
export function PlayerFrame({ video }: { video: Schemas['Video'] }) {
  const { t } = useTranslation()
  const { api } = useSession()
  const { video_id, visibility, security, status } = video
  const isPlayable = video.uri.hls !== ''
  const requiresToken = security.token_required_platform || visibility === 'private'
  const token = useQuery({
    queryKey: ['playback token', video_id],
    enabled: isPlayable && requiresToken,
    staleTime: (TOKEN_SECONDS * 1_000) / 2,
    queryFn: () => api.call('createVideoToken', { path: { video_id }, payload: { expires_in: TOKEN_SECONDS } }),
  })
  if (!isPlayable) {
    const hasFailed = status.status === 'failed'
    return (
      <div className="player-wait" role="status">
        <Stack align="center" gap="xs">
          {!hasFailed && <Loader color="white" type="dots" />}
          <Text fw={600}>{hasFailed ? t('video.failure') : t('video.encodingProgress', { percent: status.progress })}</Text>
          {!hasFailed && <Text size="sm">{t('video.playableSoon')}</Text>}
        </Stack>
      </div>
    )
  }
  if (requiresToken && !token.data) {
    return (
      <div className="player-wait" role="status" aria-label={t('common.loading')}>
        <Loader color="white" />
      </div>
    )
  }
  // Views of the organisation itself are not counted.
  const query = new URLSearchParams({ events: '0', ...(token.data && { token: token.data.token }) })
  return (
    <iframe
      className="player-frame"
      title={video.video_title}
      src={`/player/${video_id}?${query}`}
      allow="autoplay; fullscreen; picture-in-picture"
    />
  )
}
