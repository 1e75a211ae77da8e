import { Paper, SimpleGrid, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { formatNumber } from '../layout/format.ts'

interface Views {
  player_loads: number
  video_plays: number
  complete_views: number
}

/** Totals of a period. */
export function Figures({ views, live }: { views: Views; live?: number | undefined }) {
  const { t } = useTranslation()
  const figures = [
    [t('analytics.views'), views.player_loads],
    [t('analytics.plays'), views.video_plays],
    [t('analytics.ended'), views.complete_views],
    ...(live === undefined ? [] : ([[t('analytics.live'), live]] as const)),
  ] as const
  return (
    <SimpleGrid cols={{ base: 2, md: figures.length }}>
      {figures.map(([name, value]) => (
        <Paper key={name} withBorder p="md">
          <Text size="sm" c="dimmed">
            {name}
          </Text>
          <span className="figure-value">{formatNumber(value)}</span>
        </Paper>
      ))}
    </SimpleGrid>
  )
}
