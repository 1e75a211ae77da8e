import { Alert, Button, Stack, Text } from '@mantine/core'
import { IconPlugConnectedX } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { toMessage } from '../api/client.ts'
import { useOutage } from '../api/outage.ts'

/** Shown above each page while the platform does not answer, or if old data are shown because their last request failed. */
export function OutageAlert() {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const outage = useOutage()
  if (!outage) return null
  const retry = () => void queryClient.refetchQueries({ type: 'active', predicate: ({ state }) => state.status === 'error' })
  return (
    <Alert
      color="orange"
      icon={<IconPlugConnectedX />}
      title={t(outage === 'no answer' ? 'common.outage' : 'common.outdated')}
      role="status"
      mb="md"
    >
      {outage === 'no answer' ? (
        t('common.outageText')
      ) : (
        <Stack align="flex-start" gap="sm">
          <Text size="sm">{toMessage(outage)}</Text>
          <Button size="xs" variant="default" onClick={retry}>
            {t('common.retry')}
          </Button>
        </Stack>
      )}
    </Alert>
  )
}
