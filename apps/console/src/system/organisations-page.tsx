import { Badge, Button, Center, Group, Table } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconPlus } from '@tabler/icons-react'
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { Schemas } from '@vitascope/sdk'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { systemClient } from '../api/client.ts'
import { useSession } from '../api/session.tsx'
import { ConfirmButton } from '../layout/confirm-button.tsx'
import { formatBytes, formatNumber } from '../layout/format.ts'
import { lazyPart } from '../layout/lazy-part.tsx'
import { ListTable } from '../layout/list-table.tsx'
import { notifyError } from '../layout/notify.ts'
import { PageHeader } from '../layout/page-header.tsx'
import { FailedState, LoadingState } from '../layout/query-state.tsx'
import { useUsage } from '../quota/use-usage.ts'
import { OrganisationNameCell } from './organisation-name-cell.tsx'
import { ORGANISATIONS_KEY, type OrganisationRecord, refreshOrganisations } from './organisation-record.ts'

const PAGE_SIZE = 20
const OrganisationDialog = lazyPart(() => import('./organisation-dialog.tsx').then((part) => part.OrganisationDialog))

/** All organisations, with what they use. */
export function OrganisationsPage() {
  const { t } = useTranslation()
  const [isAdding, { open, close }] = useDisclosure(false)
  const [edited, setEdited] = useState<OrganisationRecord>()
  const organisations = useInfiniteQuery({
    queryKey: ORGANISATIONS_KEY,
    initialPageParam: 1,
    queryFn: ({ signal, pageParam }) => systemClient.call('listOrganisations', { query: { start: pageParam, limit: PAGE_SIZE }, signal }),
    getNextPageParam: (page, _pages, start) => (page.length < PAGE_SIZE ? undefined : start + PAGE_SIZE),
  })
  const end = () => {
    close()
    setEdited(undefined)
  }
  return (
    <>
      <PageHeader title={t('system.organisations')}>
        <Button leftSection={<IconPlus size={18} aria-hidden="true" />} onClick={open}>
          {t('system.add')}
        </Button>
      </PageHeader>
      {(isAdding || edited) && <OrganisationDialog organisation={edited} close={end} />}
      {organisations.isPending && <LoadingState />}
      {organisations.isError && <FailedState error={organisations.error} retry={() => void organisations.refetch()} />}
      {organisations.data && (
        <ListTable
          columns={[t('common.name'), t('common.status'), t('organisation.bytes'), t('organisation.minutes'), t('organisation.jobs')]}
          hasActions
          minWidth={980}
        >
          {organisations.data.pages.flat().map((organisation) => (
            <OrganisationRow key={organisation.organisation_id} organisation={organisation} edit={() => setEdited(organisation)} />
          ))}
        </ListTable>
      )}
      {organisations.hasNextPage && (
        <Center mt="md">
          <Button variant="default" loading={organisations.isFetchingNextPage} onClick={() => void organisations.fetchNextPage()}>
            {t('system.more')}
          </Button>
        </Center>
      )}
    </>
  )
}

function OrganisationRow({ organisation, edit }: { organisation: OrganisationRecord; edit: () => void }) {
  const { t } = useTranslation()
  const { organisation_id, name, status } = organisation
  const isActive = status === 'active'
  return (
    <Table.Tr>
      <OrganisationNameCell id={organisation_id} name={name} />
      <Table.Td>
        <Badge color={isActive ? 'teal' : 'gray'}>{t(`system.states.${isActive ? 'active' : 'inactive'}`)}</Badge>
      </Table.Td>
      <UsageCells id={organisation_id} />
      <Table.Td>
        <Group gap="xs" justify="flex-end" wrap="nowrap">
          {isActive && <OpenButton id={organisation_id} name={name} />}
          <Button size="xs" variant="default" aria-label={`${t('system.edit')}: ${name}`} onClick={edit}>
            {t('system.edit')}
          </Button>
          <StatusButton organisation={organisation} />
        </Group>
      </Table.Td>
    </Table.Tr>
  )
}

/** What the organisation uses, and its limits. */
function UsageCells({ id }: { id: string }) {
  const { t } = useTranslation()
  const { data, isError } = useUsage(id)
  const cell = (
    read: (record: Schemas['OrganisationUsage']) => { used: number; limit: string | null },
    format: (value: number) => string,
  ) => {
    if (!data) return isError ? '–' : '…'
    const { used, limit } = read(data)
    return limit === null ? format(used) : t('organisation.usedOf', { used: format(used), limit: format(Number(limit)) })
  }
  return (
    <>
      <Table.Td className="no-wrap">
        {cell(({ quota, usage }) => ({ used: Number(usage.bytes) + Number(usage.bytes_reserved), limit: quota.bytes }), formatBytes)}
      </Table.Td>
      <Table.Td className="no-wrap">
        {cell(
          ({ quota, usage }) => ({
            used: Number(usage.minutes_this_month) + Number(usage.minutes_reserved),
            limit: quota.minutes_per_month,
          }),
          formatNumber,
        )}
      </Table.Td>
      <Table.Td className="no-wrap">
        {cell(({ quota, usage }) => ({ used: Number(usage.jobs), limit: quota.concurrent_jobs }), formatNumber)}
      </Table.Td>
    </>
  )
}

/** Shows the videos of the organisation. */
function OpenButton({ id, name }: { id: string; name: string }) {
  const { t } = useTranslation()
  const { selectOrganisation } = useSession()
  const navigate = useNavigate()
  const open = () => {
    selectOrganisation(id)
    void navigate({ to: '/videos' })
  }
  return (
    <Button size="xs" variant="default" aria-label={`${t('system.open')}: ${name}`} onClick={open}>
      {t('system.open')}
    </Button>
  )
}

/** Activates or deactivates the organisation. The one of the platform itself is always active. */
function StatusButton({ organisation: { organisation_id: id, name, status } }: { organisation: OrganisationRecord }) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const change = useMutation({
    mutationFn: (next: 'active' | 'inactive') => systemClient.call('updateOrganisation', { path: { id }, payload: { status: next } }),
    onSuccess: () => refreshOrganisations(queryClient),
  })
  if (id === '1') return null
  return status === 'active' ? (
    <ConfirmButton
      size="xs"
      title={t('system.deactivateTitle', { name })}
      text={t('system.deactivateText')}
      confirm={t('system.deactivate')}
      onConfirm={() => change.mutateAsync('inactive')}
    >
      {t('system.deactivate')}
    </ConfirmButton>
  ) : (
    <Button size="xs" variant="light" loading={change.isPending} onClick={() => change.mutate('active', { onError: notifyError })}>
      {t('system.activate')}
    </Button>
  )
}
