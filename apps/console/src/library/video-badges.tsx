import { Badge, Progress } from '@mantine/core'
import { IconEyeOff, IconLock } from '@tabler/icons-react'
import type { Schemas } from '@vitascope/sdk'
import { useTranslation } from 'react-i18next'
import { parseTime } from '../layout/format.ts'
import { valueLabel } from '../translation/value-label.ts'
import { isEncoding } from './use-videos.ts'

/** Shows the state of a video that viewers cannot watch, with its progress. */
export function StatusBadge({ video, showReady = false }: { video: Schemas['Video']; showReady?: boolean }) {
  const { t } = useTranslation()
  const { status, progress } = video.status
  if (status === 'ok' && isExpired(video)) return <Badge color="orange">{t('status.expired')}</Badge>
  if (status === 'ok') return showReady ? <Badge color="teal">{t('status.ok')}</Badge> : null
  if (status === 'failed') return <Badge color="red">{t('status.failed')}</Badge>
  return (
    <Badge color="indigo">
      {t(status === 'encoding' ? 'status.encoding' : 'status.waiting for encoding')}
      {status === 'encoding' && ` ${progress} %`}
    </Badge>
  )
}

/** Returns true if the video is not available any more. Then its pictures are not delivered either. */
function isExpired({ content_expiry }: Schemas['Video']): boolean {
  return typeof content_expiry.time === 'string' && parseTime(content_expiry.time) < Date.now()
}

/** Shows that not everyone finds or watches a video. */
export function VisibilityBadge({ video }: { video: Schemas['Video'] }) {
  if (video.visibility === 'public') return null
  const Icon = video.visibility === 'private' ? IconLock : IconEyeOff
  return (
    <Badge variant="default" leftSection={<Icon size={12} aria-hidden="true" />}>
      {valueLabel('visibility', video.visibility)}
    </Badge>
  )
}

export function EncodingBar({ video }: { video: Schemas['Video'] }) {
  const { t } = useTranslation()
  if (!isEncoding(video)) return null
  return (
    <Progress
      value={video.status.progress}
      size="xs"
      radius={0}
      aria-label={t('video.encodingProgress', { percent: video.status.progress })}
    />
  )
}
