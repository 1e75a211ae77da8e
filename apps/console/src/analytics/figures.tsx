import { useTranslation } from 'react-i18next'
import { FigureGrid } from '../layout/figure-grid.tsx'
import { formatDuration, formatNumber } from '../layout/format.ts'

interface Views {
  player_loads: number
  video_plays: number
  complete_views: number
}

interface Props {
  views: Views
  /** Seconds that were watched. */
  watched: number
  /** Views of the last minute and of the last five minutes. */
  live?: { views: number; recent_views: number } | undefined
}

/** Totals of a period. */
export function Figures({ views, watched, live }: Props) {
  const { t } = useTranslation()
  const figures = [
    [t('analytics.views'), formatNumber(views.player_loads)],
    [t('analytics.plays'), formatNumber(views.video_plays)],
    [t('analytics.watchTime'), formatDuration(watched)],
    [t('analytics.ended'), formatNumber(views.complete_views)],
    ...(live === undefined
      ? []
      : ([
          [t('analytics.live'), formatNumber(live.views)],
          [t('analytics.recent'), formatNumber(live.recent_views)],
        ] as const)),
  ] as const
  return <FigureGrid figures={figures} cols={{ base: 2, md: figures.length > 4 ? 3 : 2, xl: figures.length > 4 ? figures.length : 2 }} />
}

/** Returns the seconds that were watched on all days. */
export function sumWatched(days: readonly { viewing_time?: number }[]): number {
  return days.reduce((sum, { viewing_time = 0 }) => sum + viewing_time, 0)
}
