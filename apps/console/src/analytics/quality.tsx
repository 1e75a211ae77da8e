import { Text, Title } from '@mantine/core'
import type { Result } from '@vitascope/sdk'
import { useTranslation } from 'react-i18next'
import { FigureGrid } from '../layout/figure-grid.tsx'
import { formatNumber, formatShare } from '../layout/format.ts'

type QualityDay = Omit<Result<'listVideoQualityByDay'>[number], 'video_id'>

/** Playback quality of a video, or of all videos, in a period. */
export function Quality({ days }: { days: readonly QualityDay[] }) {
  const { t } = useTranslation()
  const sum = (read: (day: QualityDay) => number) => days.reduce((total, day) => total + read(day), 0)
  const views = sum((day) => day.views)
  const started = sum((day) => day.started_views)
  const perView = (read: (day: QualityDay) => number) => sum(read) / views
  const seconds = (ms: number) => t('analytics.seconds', { value: formatNumber(Math.round(ms / 10) / 100) })
  const figures = [
    [t('analytics.startup'), started === 0 ? '–' : seconds(sum((day) => day.average_startup_ms * day.started_views) / started)],
    [t('analytics.stalledViews'), formatShare(perView((day) => day.stalled_views))],
    [t('analytics.stalledTime'), seconds(perView((day) => day.stalled_ms))],
    [t('analytics.failedViews'), formatShare(perView((day) => day.error_views))],
    [t('analytics.switches'), formatNumber(Math.round(100 * perView((day) => day.switches)) / 100)],
  ] as const
  return (
    <section>
      <Title order={2} size="h4">
        {t('analytics.quality')}
      </Title>
      {views === 0 ? (
        <Text size="sm">{t('analytics.noQuality')}</Text>
      ) : (
        <>
          <Text size="sm" c="dimmed" mb="xs">
            {t('analytics.qualityText', { count: views })}
          </Text>
          <FigureGrid figures={figures} cols={{ base: 2, sm: 3 }} />
        </>
      )}
    </section>
  )
}
