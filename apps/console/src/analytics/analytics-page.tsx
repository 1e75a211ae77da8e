import { Button, Paper, SimpleGrid, Stack } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { toMessage } from '../api/client.ts'
import { useSession } from '../api/session.tsx'
import { PageHeader } from '../layout/page-header.tsx'
import { QueryState } from '../layout/query-state.tsx'
import { addEnglish } from '../translation/add-english.ts'
import { analyticsTexts } from '../translation/english/analytics.ts'
import { Audience } from './audience.tsx'
import { DayChart } from './day-chart.tsx'
import { Figures, sumWatched } from './figures.tsx'
import { MinuteChart } from './minute-chart.tsx'
import { OrganisationQuality } from './organisation-quality.tsx'
import { PeriodSelect, periodOf } from './period.tsx'
import { VideoRanking } from './video-ranking.tsx'

addEnglish(analyticsTexts)

const TOP_VIDEOS = 10
const LIVE_INTERVAL_MS = 10_000

/** Page with the figures of all videos of an organisation. */
export function AnalyticsPage() {
  const { t } = useTranslation()
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
      const [views, viewers, perVideo] = await Promise.all([
        api.call('getViews', { path, query: period, signal }),
        api.call('listViewersByDay', { path, query: period, signal }),
        api.call('listViewsByVideo', { path, query: { ...period, order: 'views', limit: TOP_VIDEOS }, signal }),
      ])
      // The platform makes one detailed report of an organisation at a time.
      const perDay = await api.call('listViewsByDay', { path, query: { ...period, detailed: true }, signal })
      return { views, perDay, viewers, top: perVideo.map(({ video_id, player_loads }) => ({ video_id, views: player_loads })) }
    },
  })
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
          {t('common.export')}
        </Button>
      </PageHeader>
      <QueryState query={report}>
        {({ views, perDay, viewers, top }) => (
          <Stack gap="lg">
            <Figures views={views} watched={sumWatched(perDay)} live={live.data} />
            <Paper withBorder p="md">
              <DayChart rows={perDay} viewers={viewers} period={period} />
            </Paper>
            <SimpleGrid cols={{ base: 1, md: 2 }}>
              <MinuteChart />
              <VideoRanking
                title={t('analytics.liveVideos')}
                empty={live.isError ? toMessage(live.error) : t(live.data ? 'analytics.noneLive' : 'common.loading')}
                rows={live.data?.videos.slice(0, TOP_VIDEOS) ?? []}
              />
              <VideoRanking title={t('analytics.topVideos')} empty={t('analytics.none')} rows={top} />
              <OrganisationQuality days={days} />
            </SimpleGrid>
            <Audience days={days} />
          </Stack>
        )}
      </QueryState>
    </>
  )
}
