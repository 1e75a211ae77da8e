import { Button, Center, Table, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { formatTime } from '../layout/format.ts'
import { ListTable } from '../layout/list-table.tsx'
import { PageHeader } from '../layout/page-header.tsx'
import { FailedState, LoadingState } from '../layout/query-state.tsx'

const PAGE_SIZE = 50
const FILTER_DELAY_MS = 300

/** Writes of the organisation, the newest first. */
export function AuditPage() {
  const { t } = useTranslation()
  const { api, organisationId } = useSession()
  const [path, setPath] = useState('')
  const [object] = useDebouncedValue(path.trim(), FILTER_DELAY_MS)
  const users = useQuery({ queryKey: ['users', organisationId], queryFn: ({ signal }) => api.call('listUsers', { signal }) })
  const entries = useInfiniteQuery({
    queryKey: ['audit', organisationId, object],
    initialPageParam: '',
    queryFn: ({ signal, pageParam }) =>
      api.call('listAuditEntries', {
        signal,
        query: { limit: PAGE_SIZE, ...(object !== '' && { object }), ...(pageParam !== '' && { cursor: pageParam }) },
      }),
    getNextPageParam: ({ next }) => next || undefined,
  })
  const names = new Map(users.data?.map(({ user_id, first_name, last_name }) => [user_id, `${first_name} ${last_name}`]))
  const rows = entries.data?.pages.flatMap((page) => page.entries) ?? []
  return (
    <>
      <PageHeader title={t('audit.title')} note={t('audit.note')} />
      <TextInput
        label={t('audit.object')}
        placeholder="/v2/video/42"
        maw={420}
        mb="md"
        value={path}
        onChange={(event) => setPath(event.currentTarget.value)}
      />
      {entries.isPending && <LoadingState />}
      {entries.isError && <FailedState error={entries.error} retry={() => void entries.refetch()} />}
      {entries.data && (
        <ListTable
          columns={[t('webhooks.time'), t('audit.user'), t('audit.action'), t('audit.object'), t('account.address')]}
          minWidth={720}
        >
          {rows.map(({ request_id, time, user_id, action, object: changed, address }) => (
            <Table.Tr key={`${request_id} ${action}`}>
              <Table.Td className="no-wrap">{formatTime(time)}</Table.Td>
              <Table.Td>{names.get(user_id) ?? user_id}</Table.Td>
              <Table.Td className="code-text">{action}</Table.Td>
              <Table.Td className="code-text">{changed}</Table.Td>
              <Table.Td>{address}</Table.Td>
            </Table.Tr>
          ))}
        </ListTable>
      )}
      {entries.hasNextPage && (
        <Center mt="md">
          <Button variant="default" loading={entries.isFetchingNextPage} onClick={() => void entries.fetchNextPage()}>
            {t('audit.more')}
          </Button>
        </Center>
      )}
    </>
  )
}
