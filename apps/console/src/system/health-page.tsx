import { Alert, Badge, Paper, SimpleGrid, Text, Title } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { formatClock } from '../layout/format.ts'
import { PageHeader } from '../layout/page-header.tsx'
import { QueryState } from '../layout/query-state.tsx'
import { valueLabel } from '../translation/value-label.ts'
import { findUnavailable, SERVICES } from './readiness.ts'

const REFRESH_MS = 5_000

/** Which services the gateway can reach. */
export function HealthPage() {
  const { t } = useTranslation()
  const health = useQuery({
    queryKey: ['health'],
    queryFn: ({ signal }) => findUnavailable(signal),
    refetchInterval: REFRESH_MS,
    retry: false,
  })
  return (
    <>
      <PageHeader
        title={t('system.health')}
        note={`${t('system.everyFew')} ${health.dataUpdatedAt > 0 ? t('system.checked', { time: formatClock(health.dataUpdatedAt) }) : ''}`}
      />
      <QueryState query={health}>
        {(unavailable) =>
          health.isError ? (
            <Alert color="red" title={t('system.noAnswer')} role="alert" />
          ) : (
            <>
              <Alert
                color={unavailable.size === 0 ? 'teal' : 'red'}
                icon={unavailable.size === 0 ? <IconCircleCheck /> : <IconAlertTriangle />}
                title={unavailable.size === 0 ? t('system.ready') : t('system.notReady', { count: unavailable.size })}
                role="status"
                mb="lg"
              />
              <SimpleGrid cols={{ base: 1, sm: 2, xl: 4 }}>
                {[...new Set([...SERVICES, ...unavailable.keys()])].map((name) => (
                  <Paper key={name} withBorder p="md">
                    <Title order={2} size="h5">
                      {name}
                    </Title>
                    <Text size="sm" c="dimmed" mb="xs">
                      {valueLabel('system.services', name)}
                    </Text>
                    <Badge color={unavailable.has(name) ? 'red' : 'teal'}>
                      {t(unavailable.has(name) ? 'system.unavailable' : 'system.available')}
                    </Badge>
                    {unavailable.has(name) && (
                      <Text size="sm" mt="xs">
                        {unavailable.get(name)}
                      </Text>
                    )}
                  </Paper>
                ))}
              </SimpleGrid>
            </>
          )
        }
      </QueryState>
    </>
  )
}
