import { Button, Center, Table, Text } from '@mantine/core'
import { IconHistory } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import type { Vitascope } from '@vitascope/sdk'
import { useTranslation } from 'react-i18next'
import { formatTime } from '../layout/format.ts'
import { ListTable } from '../layout/list-table.tsx'
import { EmptyState, FailedState, LoadingState } from '../layout/query-state.tsx'

const PAGE_SIZE = 50

export interface AuditFilter {
  organisation_id?: string
  user_id?: string
  action?: string
  object?: string
}

interface Props {
  api: Vitascope
  /** Empty texts match all. */
  filter: AuditFilter
  /** Names of users by their ids. The id of another user is shown. */
  names: ReadonlyMap<string, string>
}

/** Writes that match a filter, the newest first. */
export function AuditList({ api, filter, names }: Props) {
  const { t } = useTranslation()
  const query = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== '')) as AuditFilter
  const entries = useInfiniteQuery({
    queryKey: ['audit', query],
    initialPageParam: '',
    queryFn: ({ signal, pageParam }) =>
      api.call('listAuditEntries', { signal, query: { limit: PAGE_SIZE, ...query, ...(pageParam !== '' && { cursor: pageParam }) } }),
    getNextPageParam: ({ next }) => next || undefined,
  })
  const rows = entries.data?.pages.flatMap((page) => page.entries) ?? []
  const retry = () => void (entries.isFetchNextPageError ? entries.fetchNextPage() : entries.refetch())
  return (
    <>
      {entries.isPending && <LoadingState />}
      {entries.data && rows.length === 0 && !entries.hasNextPage && (
        <EmptyState icon={<IconHistory size={28} />} title={t('audit.none')} text={t('audit.noneText')} />
      )}
      {rows.length > 0 && (
        <ListTable columns={[t('common.time'), t('audit.user'), t('audit.action'), t('audit.object'), t('account.address')]} minWidth={720}>
          {rows.map(({ request_id, time, user_id, action, object: changed, address }) => (
            <Table.Tr key={`${request_id} ${action}`}>
              <Table.Td className="no-wrap">{formatTime(time)}</Table.Td>
              <Table.Td>{names.get(user_id) || user_id}</Table.Td>
              <Table.Td className="code-text">{action}</Table.Td>
              <Table.Td className="code-text">{changed}</Table.Td>
              <Table.Td>{address}</Table.Td>
            </Table.Tr>
          ))}
        </ListTable>
      )}
      {entries.data && rows.length === 0 && entries.hasNextPage && (
        <Text size="sm" ta="center" role="status">
          {t('audit.noneSoFar')}
        </Text>
      )}
      {entries.isError && <FailedState error={entries.error} retry={retry} />}
      {entries.hasNextPage && !entries.isError && (
        <Center mt="md">
          <Button variant="default" loading={entries.isFetchingNextPage} onClick={() => void entries.fetchNextPage()}>
            {t('audit.more')}
          </Button>
        </Center>
      )}
    </>
  )
}
