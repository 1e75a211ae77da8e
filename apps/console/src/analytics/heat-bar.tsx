import { Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { formatDuration } from '../layout/format.ts'

const CELLS = 40

/** How often each part of a video was watched, from its start to its end. */
export function HeatBar({ watched, cellSeconds }: { watched: readonly number[]; cellSeconds: number }) {
  const { t } = useTranslation()
  const most = Math.max(0, ...watched)
  if (most === 0) return <Text size="sm">{t('analytics.none')}</Text>
  const count = Math.min(CELLS, watched.length)
  const bars = Array.from({ length: count }, (_, index) => {
    const [from, to] = [Math.floor((index * watched.length) / count), Math.floor(((index + 1) * watched.length) / count)]
    return { from, value: Math.max(...watched.slice(from, Math.max(from + 1, to))) }
  })
  return (
    <div className="heat" role="img" aria-label={`${t('analytics.heatmap')}: ${most}`}>
      {bars.map(({ from, value }) => (
        <span
          key={from}
          title={`${formatDuration(from * cellSeconds)}: ${value}`}
          style={{ height: `${Math.max(3, (100 * value) / most)}%` }}
        />
      ))}
    </div>
  )
}
