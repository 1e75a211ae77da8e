import { Anchor, Group, Paper, Table, Tabs, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { formatNumber, formatShare } from '../layout/format.ts'
import { ListTable } from '../layout/list-table.tsx'
import { QueryState } from '../layout/query-state.tsx'
import { type Period, periodOf } from './period.tsx'
import { useValueName } from './value-name.ts'

const DIMENSIONS = ['device', 'browser', 'os', 'country', 'referrer'] as const
const LANGUAGES = ['languages', 'subtitles'] as const
const MAX_ROWS = 20

type Dimension = (typeof DIMENSIONS)[number]
type Tab = Dimension | (typeof LANGUAGES)[number]

interface Row {
  value: string
  player_loads: number
  video_plays: number
}

/** Views by each dimension, of one video or of all videos. Subtitles are counted for all videos together only. */
export function Audience({ days, videoId }: { days: number; videoId?: string }) {
  const { t } = useTranslation()
  const { organisationId } = useSession()
  const [tab, setTab] = useState<Tab>('device')
  const period = periodOf(days)
  const rows = useRows(tab, days, videoId)
  const tabs: readonly Tab[] = videoId === undefined ? [...DIMENSIONS, ...LANGUAGES] : [...DIMENSIONS, 'languages']
  return (
    <Paper withBorder p="md" component="section">
      <Group justify="space-between" align="baseline">
        <Title order={2} size="h4">
          {t('analytics.audience')}
        </Title>
        {videoId === undefined && isDimension(tab) && (
          <Anchor size="sm" href={`/v2/analytics/export/${organisationId}?${exportQuery(period, tab)}`}>
            {t('analytics.exportBy')}
          </Anchor>
        )}
      </Group>
      <Text size="sm" c="dimmed" mb="xs">
        {t('analytics.audienceText')}
      </Text>
      <Tabs value={tab} onChange={(value) => setTab(tabs.find((name) => name === value) ?? 'device')}>
        <Tabs.List mb="xs">
          {tabs.map((name) => (
            <Tabs.Tab key={name} value={name}>
              {t(`analytics.${name}`)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={tab}>
          <QueryState query={rows}>{(values) => <Values tab={tab} rows={values} />}</QueryState>
        </Tabs.Panel>
      </Tabs>
    </Paper>
  )
}

function useRows(tab: Tab, days: number, videoId: string | undefined) {
  const { api, organisationId } = useSession()
  return useQuery({
    queryKey: ['audience', organisationId, videoId, tab, days],
    queryFn: async ({ signal }): Promise<Row[]> => {
      const path = { organisation_id: organisationId }
      const period = periodOf(days)
      if (!isDimension(tab)) {
        const operation = tab === 'languages' ? 'listViewsByAudioLanguage' : 'listViewsBySubtitleLanguage'
        const languages =
          videoId === undefined
            ? await api.call(operation, { path, query: period, signal })
            : await api.call('listVideoViewsByAudioLanguage', { path: { ...path, video_id: videoId }, query: period, signal })
        return languages.map(({ language, ...row }) => ({ ...row, value: language }))
      }
      const query = { ...period, dimension: tab }
      if (videoId === undefined) return await api.call('listViewsByDimension', { path, query, signal })
      return await api.call('listVideoViewsByDimension', { path: { ...path, video_id: videoId }, query, signal })
    },
  })
}

function isDimension(tab: Tab): tab is Dimension {
  return DIMENSIONS.some((name) => name === tab)
}

function exportQuery(period: Period, dimension: Dimension): string {
  return new URLSearchParams({ ...period, dimension, format: 'csv' }).toString()
}

function Values({ tab, rows }: { tab: Tab; rows: readonly Row[] }) {
  const { t } = useTranslation()
  const nameOf = useValueName()
  const total = rows.reduce((sum, { player_loads }) => sum + player_loads, 0)
  if (total === 0) return <Text size="sm">{t('analytics.none')}</Text>
  const others = rows.slice(MAX_ROWS)
  const sum = (field: 'player_loads' | 'video_plays') => others.reduce((value, row) => value + row[field], 0)
  const shown = [
    ...rows.slice(0, MAX_ROWS).map((row) => ({ ...row, name: nameOf(tab, row.value) })),
    ...(others.length === 0
      ? []
      : [
          {
            ...{ value: 'all others', name: t('analytics.others', { count: others.length }) },
            ...{ player_loads: sum('player_loads'), video_plays: sum('video_plays') },
          },
        ]),
  ]
  return (
    <ListTable columns={[t(`analytics.${tab}`), t('analytics.views'), t('analytics.plays'), t('analytics.share')]} minWidth={320}>
      {shown.map(({ value, name, player_loads, video_plays }) => (
        <Table.Tr key={value}>
          <Table.Td className="value-name">{name}</Table.Td>
          <Table.Td>{formatNumber(player_loads)}</Table.Td>
          <Table.Td>{formatNumber(video_plays)}</Table.Td>
          <Table.Td className="share-cell">
            <span className="share-bar" style={{ width: `${(100 * player_loads) / total}%` }} aria-hidden="true" />
            {formatShare(player_loads / total)}
          </Table.Td>
        </Table.Tr>
      ))}
    </ListTable>
  )
}
