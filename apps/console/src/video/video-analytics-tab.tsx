import { Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Audience } from '../analytics/audience.tsx'
import { DayChart } from '../analytics/day-chart.tsx'
import { Figures, sumWatched } from '../analytics/figures.tsx'
import { HeatBar } from '../analytics/heat-bar.tsx'
import { MinuteChart } from '../analytics/minute-chart.tsx'
import { PeriodSelect, periodOf } from '../analytics/period.tsx'
import { Quality } from '../analytics/quality.tsx'
import { Retention } from '../analytics/retention.tsx'
import { useSession } from '../api/session.tsx'
import { QueryState } from '../layout/query-state.tsx'
import { addEnglish } from '../translation/add-english.ts'
import { analyticsTexts } from '../translation/english/analytics.ts'

addEnglish(analyticsTexts)

/** Views of one video, and the parts of it that were watched. */
export function VideoAnalyticsTab({ video }: { video: Schemas['Video'] }) {
  const { t } = useTranslation()
  const { api, organisationId } = useSession()
  const [days, setDays] = useState(30)
  const period = periodOf(days)
  const path = { organisation_id: organisationId, video_id: video.video_id }
  const report = useQuery({
    queryKey: ['video views', video.video_id, days],
    queryFn: async ({ signal }) => {
      const [views, perDay, viewers, heat, watched, quality] = await Promise.all([
        api.call('getVideoViews', { path, query: period, signal }),
        api.call('listVideoViewsByDay', { path, query: period, signal }),
        api.call('listVideoViewersByDay', { path, query: period, signal }),
        api.call('getVideoHeatmap', { path, query: period, signal }),
        api.call('getVideoDurationViewed', { path, query: period, signal }),
        api.call('listVideoQualityByDay', { path, query: period, signal }),
      ])
      return { views, perDay, viewers, heat, watched, quality }
    },
  })
  return (
    <Stack>
      <PeriodSelect days={days} setDays={setDays} />
      <QueryState query={report}>
        {({ views, perDay, viewers, heat, watched, quality }) => (
          <Stack gap="lg">
            <Figures views={views} watched={sumWatched(perDay)} />
            <DayChart rows={perDay} viewers={viewers} period={period} />
            <MinuteChart videoId={video.video_id} />
            <Retention
              watched={watched.views_per_duration}
              plays={watched.video_duration === 0 ? 0 : watched.video_plays}
              average={watched.average_percentage_viewed}
            />
            <div>
              <Title order={2} size="h4">
                {t('analytics.heatmap')}
              </Title>
              <Text size="sm" c="dimmed" mb="xs">
                {t('analytics.heatmapText')}
              </Text>
              <HeatBar watched={heat.watched} cellSeconds={heat.cell_seconds} />
            </div>
            <Quality days={quality} />
            <Audience days={days} videoId={video.video_id} />
          </Stack>
        )}
      </QueryState>
    </Stack>
  )
}
