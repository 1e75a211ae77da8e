import { Paper, Text, Title } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { systemClient } from '../api/client.ts'
import { useSession } from '../api/session.tsx'
import { QueryState } from '../layout/query-state.tsx'
import { PlayerForm } from '../profiles/player-form.tsx'

/** Profile and theme of the videos that have none of their own. Only system users can read and change them. */
export function DefaultPlayer() {
  const { t } = useTranslation()
  const { organisationId } = useSession()
  const queryClient = useQueryClient()
  const queryKey = ['organisation', organisationId]
  const path = { id: organisationId }
  const organisation = useQuery({ queryKey, queryFn: ({ signal }) => systemClient.call('getOrganisation', { path, signal }) })
  return (
    <Paper withBorder p="lg" component="section" aria-labelledby="player-heading">
      <Title order={2} size="h4" id="player-heading">
        {t('organisation.player')}
      </Title>
      <Text size="sm" c="dimmed" mb="md">
        {t('organisation.playerText')}
      </Text>
      <QueryState query={organisation}>
        {({ default_setting_id, default_theme_id }) => (
          <PlayerForm
            stored={{ settingId: default_setting_id, themeId: default_theme_id }}
            fields={{ settingId: 'default_setting_id', themeId: 'default_theme_id' }}
            none={t('organisation.playerNone')}
            save={({ settingId, themeId }) =>
              systemClient.call('updateOrganisation', {
                path,
                payload: {
                  ...(settingId !== undefined && { default_setting_id: settingId }),
                  ...(themeId !== undefined && { default_theme_id: themeId }),
                },
              })
            }
            refresh={() => queryClient.invalidateQueries({ queryKey })}
          />
        )}
      </QueryState>
    </Paper>
  )
}
