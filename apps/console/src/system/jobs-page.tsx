import { Badge, Button, Center, Group, Paper, Progress, Select, SimpleGrid, Table, Text } from '@mantine/core'
import { IconCpu } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Schemas } from '@vitascope/sdk'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { systemClient } from '../api/client.ts'
import { MAX_OPTIONS } from '../api/max-records.ts'
import { JobButtons } from '../job/job-buttons.tsx'
import { JOBS_KEY } from '../job/job-state.ts'
import { formatNumber, formatTime } from '../layout/format.ts'
import { ListTable } from '../layout/list-table.tsx'
import { PageHeader } from '../layout/page-header.tsx'
import { EmptyState, FailedState, LoadingState } from '../layout/query-state.tsx'
import { useOrganisationNames } from '../organisation/use-organisation-names.ts'
import { valueLabel } from '../translation/value-label.ts'

const PAGE_SIZE = 50
const REFRESH_MS = 3_000
/** The platform counts no more active jobs. */
const MAX_COUNTED = 10_000
const FILTERS = ['active', 'queued', 'running', 'failed', 'cancelled', 'ok'] as const
const COLOURS: Readonly<Record<string, string>> = { ok: 'teal', failed: 'red', running: 'indigo' }

/** Encode jobs of all organisations, and how many of them wait. */
export function JobsPage() {
  const { t } = useTranslation()
  const [organisation, setOrganisation] = useState<string | null>(null)
  const [state, setState] = useState<(typeof FILTERS)[number] | undefined>(undefined)
  const names = useOrganisationNames()
  const jobs = useInfiniteQuery({
    queryKey: [...JOBS_KEY, organisation, state],
    initialPageParam: 1,
    refetchInterval: REFRESH_MS,
    queryFn: ({ signal, pageParam }) =>
      systemClient.call('listJobs', {
        signal,
        query: {
          ...{ start: pageParam, limit: PAGE_SIZE },
          ...(organisation !== null && { organisation_id: organisation }),
          ...(state !== undefined && { state }),
        },
      }),
    getNextPageParam: (page, _pages, start) => (page.jobs.length < PAGE_SIZE ? undefined : start + PAGE_SIZE),
  })
  // Jobs that are created between two requests move others to the next page.
  const rows = [...new Map(jobs.data?.pages.flatMap((page) => page.jobs.map((job) => [job.job_id, job] as const))).values()]
  return (
    <>
      <PageHeader title={t('system.jobs')} />
      <Counts counts={jobs.data?.pages[0]} />
      <Group my="lg">
        <Select
          label={t('system.state')}
          placeholder={t('system.allStates')}
          clearable
          data={FILTERS.map((value) => ({ value, label: value === 'active' ? t('system.activeStates') : t(`job.states.${value}`) }))}
          value={state ?? null}
          onChange={(value) => setState(FILTERS.find((name) => name === value))}
        />
        <Select
          label={t('system.organisation')}
          placeholder={t('system.allOrganisations')}
          clearable
          searchable
          limit={MAX_OPTIONS}
          data={Object.entries(names.data ?? {}).map(([value, label]) => ({ value, label }))}
          value={organisation}
          onChange={setOrganisation}
        />
      </Group>
      {jobs.isPending && <LoadingState />}
      {jobs.isError && <FailedState error={jobs.error} retry={() => void jobs.refetch()} />}
      {jobs.data && rows.length === 0 && <EmptyState icon={<IconCpu size={28} />} title={t('system.noJobs')} />}
      {rows.length > 0 && (
        <ListTable
          columns={[t('system.job'), t('system.organisation'), t('system.state'), t('system.reason'), t('common.created')]}
          hasActions
          minWidth={900}
        >
          {rows.map((job) => (
            <JobRow key={job.job_id} job={job} organisation={names.data?.[job.organisation_id] ?? job.organisation_id} />
          ))}
        </ListTable>
      )}
      {jobs.hasNextPage && (
        <Center mt="md">
          <Button variant="default" loading={jobs.isFetchingNextPage} onClick={() => void jobs.fetchNextPage()}>
            {t('system.more')}
          </Button>
        </Center>
      )}
    </>
  )
}

/** Number of jobs that have not ended. */
function Counts({ counts }: { counts: { queued: number; running: number } | undefined }) {
  const { t } = useTranslation()
  const isCapped = counts !== undefined && counts.queued + counts.running >= MAX_COUNTED
  const figures = [
    [t('system.queued'), counts?.queued],
    [t('system.running'), counts?.running],
  ] as const
  return (
    <SimpleGrid cols={2} maw={420}>
      {figures.map(([name, value]) => (
        <Paper key={name} withBorder p="md">
          <Text size="sm" c="dimmed">
            {name}
          </Text>
          <span className="figure-value">{value === undefined ? '…' : `${formatNumber(value)}${isCapped ? '+' : ''}`}</span>
        </Paper>
      ))}
    </SimpleGrid>
  )
}

function JobRow({ job, organisation }: { job: Schemas['ListedJob']; organisation: string }) {
  const { t } = useTranslation()
  const { job_id, video_id, action, state, progress, error, time_created } = job
  return (
    <Table.Tr>
      <Table.Td>
        <Link to="/videos/$videoId" params={{ videoId: video_id }} className="table-title">
          {valueLabel('job.actions', action)}
        </Link>
        <Text size="xs" c="dimmed">
          {t('system.jobOfVideo', { job: job_id, video: video_id })}
        </Text>
      </Table.Td>
      <Table.Td className="page-title">{organisation}</Table.Td>
      <Table.Td>
        <Badge color={COLOURS[state] ?? 'gray'}>{valueLabel('job.states', state)}</Badge>
        {state === 'running' && (
          <Progress value={progress} size="sm" mt={6} w={110} aria-label={t('job.progress', { percent: progress })} />
        )}
      </Table.Td>
      <Table.Td className="page-title">{error && `${error.message} (${error.code})`}</Table.Td>
      <Table.Td className="no-wrap">{formatTime(time_created)}</Table.Td>
      <Table.Td>
        <Group justify="flex-end" wrap="nowrap">
          <JobButtons job={job} size="xs" />
        </Group>
      </Table.Td>
    </Table.Tr>
  )
}
