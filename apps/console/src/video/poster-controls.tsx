import { Button, Group } from '@mantine/core'
import { IconCameraPin, IconPhoto } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { notifyError, notifySuccess } from '../layout/notify.ts'
import { SelectFile } from '../layout/select-file.tsx'
import { usePlayerActions } from '../player/player-control.tsx'

/** Sets the poster to the picture at the current time of the player or to a file, or returns to the automatic one. */
export function PosterControls({ video }: { video: Schemas['Video'] }) {
  const { t } = useTranslation()
  const { api } = useSession()
  const queryClient = useQueryClient()
  const { readTime } = usePlayerActions()
  const [isRunning, setRunning] = useState(false)
  if (video.status.status !== 'ok') return null
  const path = { video_id: video.video_id }
  const run = async (change: () => Promise<unknown>) => {
    setRunning(true)
    try {
      await change()
      notifySuccess(t('video.posterSet'))
      await queryClient.invalidateQueries({ queryKey: ['video', video.video_id] })
    } catch (error) {
      notifyError(error)
    } finally {
      setRunning(false)
    }
  }
  const takeFrame = async () => {
    const time = await readTime()
    if (time !== undefined) await run(() => api.call('setVideoPoster', { path, payload: { time } }))
  }
  return (
    <Group gap="xs" mt="sm">
      {Number(video.published_height) > 0 && (
        <Button
          size="xs"
          variant="default"
          loading={isRunning}
          leftSection={<IconCameraPin size={16} aria-hidden="true" />}
          onClick={() => void takeFrame()}
        >
          {t('video.poster')}: {t('video.posterFrame')}
        </Button>
      )}
      <SelectFile
        accept="image/jpeg,image/png,image/webp"
        onSelect={(file) => void run(() => api.call('setVideoPoster', { path, body: file, contentType: file.type }))}
      >
        {(props) => (
          <Button {...props} size="xs" variant="default" loading={isRunning} leftSection={<IconPhoto size={16} aria-hidden="true" />}>
            {t('video.poster')}: {t('video.posterFile')}
          </Button>
        )}
      </SelectFile>
      {video.poster && (
        <Button size="xs" variant="subtle" loading={isRunning} onClick={() => void run(() => api.call('removeVideoPoster', { path }))}>
          {t('video.posterRemove')}
        </Button>
      )}
    </Group>
  )
}
