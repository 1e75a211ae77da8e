import { Alert, Button, Center, Loader, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { toMessage } from '../api/client.ts'

/** Shows the data of a query, a spinner until it arrives, or the error with a button that tries again. */
export function QueryState<T>({ query, children }: { query: UseQueryResult<T>; children: (data: T) => ReactNode }) {
  if (query.data !== undefined) return children(query.data)
  if (query.isError) return <FailedState error={query.error} retry={() => void query.refetch()} />
  return <LoadingState />
}

export function LoadingState() {
  const { t } = useTranslation()
  return (
    <Center py="xl" role="status" aria-label={t('common.loading')}>
      <Loader />
    </Center>
  )
}

/** Shows an error and a button that tries again. */
export function FailedState({ error, retry }: { error: unknown; retry: () => void }) {
  const { t } = useTranslation()
  return (
    <Alert color="red" icon={<IconAlertTriangle />} title={t('common.failed')} role="alert" my="md">
      <Stack align="flex-start" gap="sm">
        <Text size="sm">{toMessage(error)}</Text>
        <Button size="xs" variant="default" onClick={retry}>
          {t('common.retry')}
        </Button>
      </Stack>
    </Alert>
  )
}

/** Shown instead of an empty list. */
export function EmptyState({ icon, title, text, children }: { icon: ReactNode; title: string; text?: string; children?: ReactNode }) {
  return (
    <Center py={60}>
      <Stack align="center" gap="xs" maw={420}>
        <span className="empty-icon" aria-hidden="true">
          {icon}
        </span>
        <Text fw={600}>{title}</Text>
        {text !== undefined && (
          <Text c="dimmed" size="sm" ta="center">
            {text}
          </Text>
        )}
        {children}
      </Stack>
    </Center>
  )
}
