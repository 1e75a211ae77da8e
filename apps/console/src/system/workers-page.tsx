import { Anchor, Badge, Button, Center, Group, Paper, SimpleGrid, Stack, Table, Text, Title } from '@mantine/core'
import { IconServer } from '@tabler/icons-react'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Result, Schemas } from '@vitascope/sdk'
import { useTranslation } from 'react-i18next'
import { systemClient } from '../api/client.ts'
import { FigureGrid } from '../layout/figure-grid.tsx'
import { formatClock, formatNumber, formatSpan } from '../layout/format.ts'
import { ListTable } from '../layout/list-table.tsx'
import { PageHeader } from '../layout/page-header.tsx'
import { EmptyState, FailedState, LoadingState, QueryState } from '../layout/query-state.tsx'
import { useOrganisationNames } from '../organisation/use-organisation-names.ts'
import { valueLabel } from '../translation/value-label.ts'

type Queue = Result<'getWorkerQueue'>
type Task = Schemas['Worker']['tasks'][number]

const PAGE_SIZE = 50
const REFRESH_MS = 5_000

/** Workers with what they run, and the tasks that wait. */
export function WorkersPage() {
  const { t } = useTranslation()
  const queue = useQuery({
    queryKey: ['worker queue'],
    refetchInterval: REFRESH_MS,
    queryFn: ({ signal }) => systemClient.call('getWorkerQueue', { signal }),
  })
  const workers = useInfiniteQuery({
    queryKey: ['workers'],
    initialPageParam: 1,
    refetchInterval: REFRESH_MS,
    queryFn: ({ signal, pageParam }) => systemClient.call('listWorkers', { signal, query: { start: pageParam, limit: PAGE_SIZE } }),
    getNextPageParam: (page, _pages, start) => (page.length < PAGE_SIZE ? undefined : start + PAGE_SIZE),
  })
  const names = useOrganisationNames()
  const nameOf = (organisationId: string) => names.data?.[organisationId] ?? organisationId
  // A worker that connects between two requests moves others to the next page.
  const rows = [...new Map(workers.data?.pages.flat().map((worker) => [worker.name, worker])).values()]
  return (
    <>
      <PageHeader
        title={t('system.workers')}
        note={`${t('system.everyFew')} ${queue.dataUpdatedAt > 0 ? t('system.checked', { time: formatClock(queue.dataUpdatedAt) }) : ''}`}
      />
      <Stack gap="lg">
        <QueryState query={queue}>
          {({ kinds }) => <TaskFigures kinds={kinds} workers={workers.data && { rows, hasMore: workers.hasNextPage }} />}
        </QueryState>
        <section>
          <Title order={2} size="h4" mb="xs">
            {t('system.workerTasks')}
          </Title>
          {workers.isPending && <LoadingState />}
          {workers.isError && !workers.data && <FailedState error={workers.error} retry={() => void workers.refetch()} />}
          {workers.data && rows.length === 0 && (
            <EmptyState icon={<IconServer size={28} />} title={t('system.noWorkers')} text={t('system.noWorkersText')} />
          )}
          <SimpleGrid cols={{ base: 1, md: 2, xl: 3 }} component="ul" className="plain-list">
            {rows.map((worker) => (
              <WorkerCard key={worker.name} worker={worker} nameOf={nameOf} />
            ))}
          </SimpleGrid>
          {workers.hasNextPage && (
            <Center mt="md">
              <Button variant="default" loading={workers.isFetchingNextPage} onClick={() => void workers.fetchNextPage()}>
                {t('system.more')}
              </Button>
            </Center>
          )}
        </section>
        {queue.data && <QueueTables queue={queue.data} nameOf={nameOf} />}
      </Stack>
    </>
  )
}

interface FigureProps extends Pick<Queue, 'kinds'> {
  workers: { rows: readonly Schemas['Worker'][]; hasMore: boolean } | undefined
}

function TaskFigures({ kinds, workers }: FigureProps) {
  const { t } = useTranslation()
  const sum = (read: (row: Queue['kinds'][number]) => number) => kinds.reduce((total, row) => total + read(row), 0)
  const wait = Math.max(0, ...kinds.map((row) => row.waiting_seconds))
  const connected = workers?.rows.filter((worker) => worker.connected).length ?? 0
  const figures = [
    [t('system.connectedWorkers'), workers ? `${formatNumber(connected)}${workers.hasMore ? '+' : ''}` : '…'],
    [t('system.runningTasks'), formatNumber(sum((row) => row.running))],
    [t('system.waitingTasks'), formatNumber(sum((row) => row.waiting))],
    [t('system.longestWait'), wait === 0 ? '–' : formatSpan(wait)],
  ] as const
  return <FigureGrid figures={figures} cols={{ base: 2, md: 4 }} />
}

function WorkerCard({ worker, nameOf }: { worker: Schemas['Worker']; nameOf: (organisationId: string) => string }) {
  const { t } = useTranslation()
  const { name, connected, connected_seconds, heartbeat_age_seconds, tasks } = worker
  return (
    <Paper component="li" withBorder p="md">
      <Group justify="space-between" align="flex-start" wrap="nowrap">
        <Title order={3} size="h5" className="page-title">
          {name}
        </Title>
        <Badge color={connected ? 'teal' : 'red'}>{t(connected ? 'system.connected' : 'system.disconnected')}</Badge>
      </Group>
      <Text size="sm" c="dimmed" mb="xs">
        {t('system.heartbeat', { span: formatSpan(heartbeat_age_seconds) })}
        {' · '}
        {t('system.connectedFor', { span: formatSpan(connected_seconds) })}
      </Text>
      {tasks.length === 0 ? (
        connected && <Text size="sm">{t('system.noTasks')}</Text>
      ) : (
        <ul className="plain-list">
          {tasks.map((task) => (
            <TaskItem key={`${task.kind} ${task.job_id} ${task.chunk}`} task={task} organisation={nameOf(task.organisation_id)} />
          ))}
        </ul>
      )}
    </Paper>
  )
}

function TaskItem({ task, organisation }: { task: Task; organisation: string }) {
  const { t } = useTranslation()
  const { kind, job_id, video_id, chunk, progress, running_seconds } = task
  const job = t('system.ofJob', { job: job_id })
  const more = [
    ...(progress === null ? [] : [t('job.progress', { percent: progress })]),
    ...(running_seconds === null ? [] : [formatSpan(running_seconds)]),
    organisation,
  ]
  return (
    <li className="worker-task">
      <Group gap={6} fz="sm">
        <span>
          {valueLabel('system.kinds', kind)}
          {/* The sound of a source is one chunk. */}
          {chunk !== null && kind === 'encode' && ` ${t('system.chunk', { number: chunk + 1 })}`}
        </span>
        {video_id === '' ? (
          <span>{job}</span>
        ) : (
          <Anchor size="sm" renderRoot={(props) => <Link to="/videos/$videoId" params={{ videoId: video_id }} {...props} />}>
            {job}
          </Anchor>
        )}
      </Group>
      <Text size="sm" c="dimmed" className="page-title">
        {more.join(' · ')}
      </Text>
    </li>
  )
}

function QueueTables({ queue: { kinds, organisations }, nameOf }: { queue: Queue; nameOf: (organisationId: string) => string }) {
  const { t } = useTranslation()
  const columns = [t('system.waiting'), t('system.runningNow'), t('system.longestWait')]
  return (
    <>
      <Paper withBorder p="md" component="section">
        <Title order={2} size="h4" mb="xs">
          {t('system.queue')}
        </Title>
        {kinds.length === 0 ? (
          <Text size="sm">{t('system.queueEmpty')}</Text>
        ) : (
          <ListTable columns={[t('system.kind'), ...columns]} minWidth={320}>
            {kinds.map((row) => (
              <Table.Tr key={row.kind}>
                <Table.Td>{valueLabel('system.kinds', row.kind)}</Table.Td>
                <CountCells row={row} />
              </Table.Tr>
            ))}
          </ListTable>
        )}
      </Paper>
      {organisations.length > 0 && (
        <Paper withBorder p="md" component="section">
          <Title order={2} size="h4">
            {t('system.queueByOrganisation')}
          </Title>
          <Text size="sm" c="dimmed" mb="xs">
            {t('system.queueByOrganisationText')}
          </Text>
          <ListTable columns={[t('system.organisation'), t('system.kind'), ...columns]} minWidth={460} maxHeight={480}>
            {organisations.map((row) => (
              <Table.Tr key={`${row.organisation_id} ${row.kind}`}>
                <Table.Td className="page-title">{nameOf(row.organisation_id)}</Table.Td>
                <Table.Td>{valueLabel('system.kinds', row.kind)}</Table.Td>
                <CountCells row={row} />
              </Table.Tr>
            ))}
          </ListTable>
        </Paper>
      )}
    </>
  )
}

function CountCells({ row }: { row: Pick<Queue['kinds'][number], 'waiting' | 'running' | 'waiting_seconds'> }) {
  return (
    <>
      <Table.Td>{formatNumber(row.waiting)}</Table.Td>
      <Table.Td>{formatNumber(row.running)}</Table.Td>
      <Table.Td className="no-wrap">{row.waiting_seconds === 0 ? '–' : formatSpan(row.waiting_seconds)}</Table.Td>
    </>
  )
}
