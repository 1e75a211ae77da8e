import { Button, FileButton, Group } from '@mantine/core'
import { IconPhoto } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { notifyError, notifySuccess } from '../layout/notify.ts'

/** Sets the poster from a file, or returns to the automatic one. */
export function PosterControls({ video }: { video: Schemas['Video'] }) {
  const { t } = useTranslation()
  const { api } = useSession()
  const queryClient = useQueryClient()
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
  return (
    <Group gap="xs" mt="sm">
      <FileButton
        accept="image/jpeg,image/png,image/webp"
        onChange={(file) => file && void run(() => api.call('setVideoPoster', { path, body: file, contentType: file.type }))}
      >
        {(props) => (
          <Button {...props} size="xs" variant="default" loading={isRunning} leftSection={<IconPhoto size={16} aria-hidden="true" />}>
            {t('video.poster')}: {t('video.posterFile')}
          </Button>
        )}
      </FileButton>
      {video.poster && (
        <Button size="xs" variant="subtle" loading={isRunning} onClick={() => void run(() => api.call('removeVideoPoster', { path }))}>
          {t('video.posterRemove')}
        </Button>
      )}
    </Group>
  )
}
