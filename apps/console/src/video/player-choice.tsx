import { Stack, Text, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { PlayerForm } from '../profiles/player-form.tsx'
import { addEnglish } from '../translation/add-english.ts'
import { profileTexts } from '../translation/english/profiles.ts'
import type { LoadedVideo } from './use-video.ts'

addEnglish(profileTexts)

/** Profile and theme of a video. Without one of them, that of the organisation applies. */
export function PlayerChoice({ video: { video_id, setting_id, theme_id } }: { video: Schemas['Video'] }) {
  const { t } = useTranslation()
  const { api } = useSession()
  const queryClient = useQueryClient()
  const queryKey = ['video', video_id]
  return (
    <Stack gap="sm">
      <Title order={2} size="h4">
        {t('profiles.player')}
      </Title>
      <PlayerForm
        stored={{ settingId: setting_id ?? '', themeId: theme_id ?? '' }}
        fields={{ settingId: 'setting_id', themeId: 'theme_id' }}
        none={t('profiles.ofOrganisation')}
        save={({ settingId, themeId }) =>
          api.call('updateVideo', {
            path: { video_id },
            payload: { ...(settingId !== undefined && { setting_id: settingId }), ...(themeId !== undefined && { theme_id: themeId }) },
            ifMatch: queryClient.getQueryData<LoadedVideo>(queryKey)?.etag,
          })
        }
        refresh={() => queryClient.invalidateQueries({ queryKey })}
      >
        <Text size="xs" c="dimmed">
          {t('profiles.playerHelp')}
        </Text>
      </PlayerForm>
    </Stack>
  )
}
