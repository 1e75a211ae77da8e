import { Loader, Stack, Text } from '@mantine/core'
import type { Schemas } from '@vitascope/sdk'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { usePlayerConnection } from './player-control.tsx'
import { usePlaybackToken } from './use-playback-token.ts'

/** The player of a video, which starts at `start` seconds. Private and protected videos are played with a token of the user. */
export function PlayerFrame({ video, start }: { video: Schemas['Video']; start?: number | undefined }) {
  const { t } = useTranslation()
  const { video_id, status } = video
  const { isRequired, token } = usePlaybackToken(video)
  // The address of the page may change later. The player must not load again.
  const [firstStart] = useState(start)
  if (video.uri.hls === '') {
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
  if (isRequired && !token) {
    return (
      <div className="player-wait" role="status" aria-label={t('common.loading')}>
        <Loader color="white" />
      </div>
    )
  }
  // Views of the organisation itself are not counted.
  const query = new URLSearchParams({
    events: '0',
    ...(token && { token }),
    ...(firstStart !== undefined && { start: String(firstStart) }),
  })
  return <PlayerPage title={video.video_title} address={`/player/${video_id}?${query}`} />
}

/** The player page at an address, connected with the components that control it. */
export function PlayerPage({ title, address }: { title: string; address: string }) {
  const { attach } = usePlayerConnection()
  return (
    <iframe
      ref={attach}
      className="player-frame"
      data-preview
      title={title}
      src={address}
      allow="autoplay; fullscreen; picture-in-picture"
    />
  )
}
