import { Anchor, Button, Grid, Paper, Stack, Table, Title } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { formatNumber } from '../layout/format.ts'
import { PageHeader } from '../layout/page-header.tsx'
import { QueryState } from '../layout/query-state.tsx'
import { DayChart } from './day-chart.tsx'
import { Figures } from './figures.tsx'
import { PeriodSelect, periodOf } from './period.tsx'

const TOP_VIDEOS = 10
const LIVE_INTERVAL_MS = 10_000

/** Views of an organisation. */
export function AnalyticsPage() {
  const { t, i18n } = useTranslation()
  const { api, organisationId } = useSession()
  const [days, setDays] = useState(30)
  const period = periodOf(days)
  const path = { organisation_id: organisationId }
  const live = useQuery({
    queryKey: ['live', organisationId],
    refetchInterval: LIVE_INTERVAL_MS,
    queryFn: ({ signal }) => api.call('getRealtimeViews', { path, signal }),
  })
  const report = useQuery({
    queryKey: ['analytics', organisationId, days],
    queryFn: async ({ signal }) => {
      const [views, perDay, perVideo, languages] = await Promise.all([
        api.call('getViews', { path, query: period, signal }),
        api.call('listViewsByDay', { path, query: period, signal }),
        api.call('listViewsByVideo', { path, query: { ...period, limit: 100 }, signal }),
        api.call('listViewsByAudioLanguage', { path, query: period, signal }),
      ])
      const top = perVideo.toSorted((a, b) => b.player_loads - a.player_loads).slice(0, TOP_VIDEOS)
      const titles = await Promise.all(
        top.map(({ video_id }) =>
          api.call('getVideo', { path: { video_id }, signal }).then(
            ({ video_title }) => video_title,
            () => video_id,
          ),
        ),
      )
      return { views, perDay, languages, top: top.map((row, index) => ({ ...row, title: titles[index] ?? row.video_id })) }
    },
  })
  const nameOf = (code: string) =>
    code === '' ? '–' : (new Intl.DisplayNames([i18n.language], { type: 'language', fallback: 'code' }).of(code) ?? code)
  return (
    <>
      <PageHeader title={t('analytics.title')}>
        <PeriodSelect days={days} setDays={setDays} />
        <Button
          component="a"
          variant="default"
          href={`/v2/analytics/export/${organisationId}?${new URLSearchParams({ ...period, format: 'csv' })}`}
          leftSection={<IconDownload size={16} aria-hidden="true" />}
        >
          {t('analytics.export')}
        </Button>
      </PageHeader>
      <QueryState query={report}>
        {({ views, perDay, top, languages }) => (
          <Stack gap="lg">
            <Figures views={views} live={live.data?.views} />
            <Paper withBorder p="md">
              <DayChart rows={perDay} period={period} />
            </Paper>
            <Grid>
              <Grid.Col span={{ base: 12, md: 8 }}>
                <Ranking
                  title={t('analytics.topVideos')}
                  rows={top.map(({ video_id, title, player_loads }) => ({
                    key: video_id,
                    name: title,
                    views: player_loads,
                    videoId: video_id,
                  }))}
                />
              </Grid.Col>
              <Grid.Col span={{ base: 12, md: 4 }}>
                <Ranking
                  title={t('analytics.languages')}
                  rows={languages
                    .slice(0, TOP_VIDEOS)
                    .map(({ language, player_loads }) => ({ key: language, name: nameOf(language), views: player_loads }))}
                />
              </Grid.Col>
            </Grid>
          </Stack>
        )}
      </QueryState>
    </>
  )
}

function Ranking({ title, rows }: { title: string; rows: readonly { key: string; name: string; views: number; videoId?: string }[] }) {
  const { t } = useTranslation()
  return (
    <Paper withBorder p="md">
      <Title order={2} size="h4" mb="xs">
        {title}
      </Title>
      {rows.length === 0 ? (
        t('analytics.none')
      ) : (
        <Table>
          <Table.Tbody>
            {rows.map(({ key, name, views, videoId }) => (
              <Table.Tr key={key}>
                <Table.Td className="page-title">
                  {videoId === undefined ? (
                    name
                  ) : (
                    <Anchor
                      renderRoot={(props) => <Link to="/videos/$videoId" params={{ videoId }} search={{ tab: 'analytics' }} {...props} />}
                    >
                      {name}
                    </Anchor>
                  )}
                </Table.Td>
                <Table.Td ta="right">{formatNumber(views)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Paper>
  )
}
