import { Alert, Anchor, Badge, Stack, Table } from '@mantine/core'
import { IconDatabaseHeart } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { Result } from '@vitascope/sdk'
import { useTranslation } from 'react-i18next'
import { systemClient } from '../api/client.ts'
import { formatClock, formatSpan, formatTime, secondsBetween } from '../layout/format.ts'
import { ListTable } from '../layout/list-table.tsx'
import { PageHeader } from '../layout/page-header.tsx'
import { EmptyState, QueryState } from '../layout/query-state.tsx'
import { valueLabel } from '../translation/value-label.ts'

type Service = Result<'listFailovers'>['services'][number]

const REFRESH_MS = 5_000

/** When the database lost its last transactions, as each service detected and repaired it. */
export function FailoversPage() {
  const { t } = useTranslation()
  const query = useQuery({
    queryKey: ['failovers'],
    refetchInterval: REFRESH_MS,
    queryFn: ({ signal }) => systemClient.call('listFailovers', { signal }),
  })
  return (
    <>
      <PageHeader
        title={t('system.failovers')}
        note={
          <>
            {t('system.failoversText')} {query.dataUpdatedAt > 0 && `${t('system.checked', { time: formatClock(query.dataUpdatedAt) })} `}
            <Anchor href="/docs/operate/troubleshoot#failover-of-the-database" size="sm" underline="always">
              {t('system.failoversExplain')}
            </Anchor>
          </>
        }
      />
      <QueryState query={query}>{({ services }) => <FailoverTable services={services} />}</QueryState>
    </>
  )
}

function FailoverTable({ services }: { services: readonly Service[] }) {
  const { t } = useTranslation()
  const missing = services.filter(({ available }) => !available)
  const rows = services
    .flatMap(({ service, has_repair, failovers }) => failovers.map((failover) => ({ ...failover, service, has_repair })))
    .sort((a, b) => b.time_detected.localeCompare(a.time_detected))
  return (
    <Stack gap="md">
      {missing.length > 0 && (
        <Alert
          color="orange"
          role="status"
          title={t('system.failoversMissing', { services: missing.map((row) => row.service).join(', ') })}
        />
      )}
      {rows.length === 0 ? (
        <EmptyState icon={<IconDatabaseHeart size={28} />} title={t('system.noFailovers')} text={t('system.noFailoversText')} />
      ) : (
        <ListTable columns={[t('system.detected'), t('system.service'), t('system.cause'), t('system.repair')]} minWidth={640}>
          {rows.map(({ service, has_repair, failover_id, cause, time_detected, time_repaired }) => (
            <Table.Tr key={`${service} ${failover_id}`}>
              <Table.Td className="no-wrap">{formatTime(time_detected)}</Table.Td>
              <Table.Td>{service}</Table.Td>
              <Table.Td>{valueLabel('system.causes', cause)}</Table.Td>
              <Table.Td className="no-wrap">
                {time_repaired !== '' ? (
                  t('system.repaired', { span: formatSpan(secondsBetween(time_detected, time_repaired)) })
                ) : has_repair ? (
                  <Badge color="orange">{t('system.repairing')}</Badge>
                ) : (
                  t('system.noRepair')
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </ListTable>
      )}
    </Stack>
  )
}
