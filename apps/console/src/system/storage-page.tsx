import { Alert, Anchor, Button, Group, Pagination, Paper, Progress, Select, SimpleGrid, Stack, Table, Text, TextInput } from '@mantine/core'
import { IconDatabase, IconRefresh, IconSearch } from '@tabler/icons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { formatBytes, formatClock, formatNumber, formatShare } from '../layout/format.ts'
import { lazyPart } from '../layout/lazy-part.tsx'
import { ListTable } from '../layout/list-table.tsx'
import { PageHeader } from '../layout/page-header.tsx'
import { EmptyState, FailedState, LoadingState } from '../layout/query-state.tsx'
import { OrganisationNameCell } from './organisation-name-cell.tsx'
import type { OrganisationRecord } from './organisation-record.ts'
import { NEARLY_FULL, type StorageOrder, type StorageRow, selectRows, sumRows, usedShare } from './storage-rows.ts'
import { MAX_ORGANISATIONS, type Storage, useStorage } from './use-storage.ts'

const PAGE_SIZE = 25
const ORDERS: readonly StorageOrder[] = ['bytes', 'used', 'name']
const OrganisationDialog = lazyPart(() => import('./organisation-dialog.tsx').then((part) => part.OrganisationDialog))

/** Stored bytes of the platform and of each organisation, with their quotas. */
export function StoragePage() {
  const { t } = useTranslation()
  const { query, progress } = useStorage()
  const [edited, setEdited] = useState<OrganisationRecord>()
  return (
    <>
      <PageHeader
        title={t('system.storage')}
        note={
          <>
            {t('system.storageText')}{' '}
            <Anchor href="/docs/guides/manage-quotas" size="sm" underline="always">
              {t('system.storageExplain')}
            </Anchor>
          </>
        }
      >
        <Text size="sm" c="dimmed" role="status">
          {query.isFetching
            ? progress.all > 0 && t('system.storageProgress', { done: formatNumber(progress.done), all: formatNumber(progress.all) })
            : query.isSuccess && t('system.checked', { time: formatClock(query.dataUpdatedAt) })}
        </Text>
        <Button
          variant="default"
          leftSection={<IconRefresh size={18} aria-hidden="true" />}
          loading={query.isFetching}
          onClick={() => void query.refetch()}
        >
          {t('system.refresh')}
        </Button>
      </PageHeader>
      {edited && <OrganisationDialog organisation={edited} close={() => setEdited(undefined)} />}
      {query.data ? (
        <StorageFigures storage={query.data} edit={setEdited} />
      ) : query.isError ? (
        <FailedState error={query.error} retry={() => void query.refetch()} />
      ) : (
        <LoadingState />
      )}
    </>
  )
}

function StorageFigures({ storage, edit }: { storage: Storage; edit: (organisation: OrganisationRecord) => void }) {
  const { t } = useTranslation()
  const { rows, organisations, isPartial } = storage
  const { bytes, reserved, quota, unlimited, nearlyFull } = sumRows(rows)
  const counted = (count: number) => ({ count, formatted: formatNumber(count) })
  const figures = [
    [t('system.storageTotal'), formatBytes(bytes), t('system.storageOrganisations', counted(rows.length))],
    [t('system.storageReserved'), formatBytes(reserved), t('system.storageReservedText')],
    [t('system.storageQuotas'), unlimited === rows.length ? '–' : formatBytes(quota), t('system.storageUnlimited', counted(unlimited))],
    [t('system.storageFull'), formatNumber(nearlyFull), t('system.storageFullText')],
  ] as const
  return (
    <Stack gap="lg">
      {isPartial && <Alert color="orange" title={t('system.storagePartial', { formatted: formatNumber(MAX_ORGANISATIONS) })} />}
      <SimpleGrid cols={{ base: 2, md: 4 }}>
        {figures.map(([name, value, note]) => (
          <Paper key={name} withBorder p="md">
            <Text size="sm" c="dimmed">
              {name}
            </Text>
            <span className="figure-value">{value}</span>
            <Text size="xs" c="dimmed">
              {note}
            </Text>
          </Paper>
        ))}
      </SimpleGrid>
      <StorageTable
        rows={rows}
        total={bytes}
        edit={(id) => {
          const organisation = organisations.get(id)
          if (organisation) edit(organisation)
        }}
      />
    </Stack>
  )
}

interface TableProps {
  rows: readonly StorageRow[]
  /** Stored bytes of all organisations. */
  total: number
  edit: (id: string) => void
}

function StorageTable({ rows, total, edit }: TableProps) {
  const { t } = useTranslation()
  const [order, setOrder] = useState<StorageOrder>('bytes')
  const [text, setText] = useState('')
  const [page, setPage] = useState(1)
  const found = selectRows(rows, order, text)
  const pages = Math.max(1, Math.ceil(found.length / PAGE_SIZE))
  // Fewer organisations can be left after a refresh.
  const shown = Math.min(page, pages)
  return (
    <section>
      <SimpleGrid cols={{ base: 1, sm: 2 }} mb="md" maw={640}>
        <TextInput
          label={t('system.storageFind')}
          type="search"
          leftSection={<IconSearch size={18} aria-hidden="true" />}
          value={text}
          onChange={({ currentTarget: { value } }) => {
            setText(value)
            setPage(1)
          }}
        />
        <Select
          label={t('system.storageOrder')}
          allowDeselect={false}
          data={ORDERS.map((value) => ({ value, label: t(`system.storageOrders.${value}`) }))}
          value={order}
          onChange={(value) => {
            setOrder(ORDERS.find((name) => name === value) ?? 'bytes')
            setPage(1)
          }}
        />
      </SimpleGrid>
      {found.length === 0 ? (
        <EmptyState icon={<IconDatabase size={28} />} title={t('system.noOrganisation')} />
      ) : (
        <ListTable
          columns={[t('system.organisation'), t('system.storageTotal'), t('system.storageUsed'), t('system.storageShare')]}
          hasActions
          minWidth={720}
        >
          {found.slice((shown - 1) * PAGE_SIZE, shown * PAGE_SIZE).map((row) => (
            <StorageCells key={row.id} row={row} total={total} edit={() => edit(row.id)} />
          ))}
        </ListTable>
      )}
      {pages > 1 && (
        <Group justify="center" mt="md">
          <Pagination
            total={pages}
            value={shown}
            onChange={setPage}
            getControlProps={(control) => ({ 'aria-label': t(`pages.${control}`) })}
            getItemProps={(number) => ({ 'aria-label': t('pages.page', { page: number }) })}
          />
        </Group>
      )}
    </section>
  )
}

function StorageCells({ row, total, edit }: { row: StorageRow; total: number; edit: () => void }) {
  const { t } = useTranslation()
  const { id, name, bytes, reserved, quota } = row
  const used = usedShare(row)
  return (
    <Table.Tr>
      <OrganisationNameCell id={id} name={name} />
      <Table.Td className="no-wrap">
        {formatBytes(bytes)}
        {reserved > 0 && (
          <Text size="xs" c="dimmed">
            {t('system.storageReserved')}: {formatBytes(reserved)}
          </Text>
        )}
      </Table.Td>
      <Table.Td className="no-wrap" miw={160}>
        {used === undefined || quota === undefined ? (
          <Text size="sm" c="dimmed">
            {t('system.noLimit')}
          </Text>
        ) : (
          <>
            <Group justify="space-between" gap="xs" wrap="nowrap">
              <span>{formatShare(used)}</span>
              <Text size="xs" c="dimmed">
                {t('organisation.usedOf', { used: formatBytes(bytes + reserved), limit: formatBytes(quota) })}
              </Text>
            </Group>
            <Progress
              value={Math.min(100, used * 100)}
              color={used >= 1 ? 'red' : used >= NEARLY_FULL ? 'orange' : 'indigo'}
              size="sm"
              mt={4}
              aria-label={`${t('system.storageUsed')}: ${name}`}
            />
          </>
        )}
      </Table.Td>
      <Table.Td className="no-wrap">{total === 0 ? '–' : formatShare(bytes / total)}</Table.Td>
      <Table.Td ta="right">
        <Button size="xs" variant="default" aria-label={`${t('system.edit')}: ${name}`} onClick={edit}>
          {t('system.edit')}
        </Button>
      </Table.Td>
    </Table.Tr>
  )
}
